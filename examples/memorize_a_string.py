"""A string in as few numbers as possible: a linear network that repeats it for ever, saved, loaded and drawn."""

import memspan as ms

net = ms.memorize("abracadabra")
print(f"{net.hidden_size} hidden units, margin {net.margin:.3f}, {net.verified_symbols:,} symbols checked")
print(f"turns of the state per period: {net.frequencies}; no smaller network of this form: {net.minimal}")

ms.memorization.save_memorization(net, "abracadabra.safetensors")  # five tensors and the alphabet
loaded = ms.memorization.load_network("abracadabra.safetensors")  # replayed once more before it is given
print(loaded.replay(33))

state = loaded.h_0  # the recurrence itself is two lines
for _ in range(11):
    state = loaded.W_h @ state
    print(loaded.alphabet[(loaded.W_y @ state + loaded.b_y).argmax()], state.round(3))

for name, figure in ms.presentation.figures_of(net).items():  # its orbit, how it is read, its eigenvalues
    print("drawn:", *ms.presentation.save(figure, "abracadabra", name))
