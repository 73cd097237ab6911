"""Matplotlib drawings: style and axes, then one module for each kind of drawing.

A figure states its answer in the title, names the units on its axes and stays readable without color.
"""
