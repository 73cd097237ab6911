"""`memspan memorize`: what it answers, draws, saves and refuses."""

from __future__ import annotations

import pytest

from memspan.memorization import load_network
from memspan.results import Memorization


def test_the_first_line_is_a_sentence_with_the_size(memspan):
    ran = memspan("memorize", "abracadabra")
    assert ran.status == 0
    assert ran.out.splitlines()[0] == (
        "abracadabra: 2 hidden units replay it forever (checked for 100,001 symbols), "
        "and no smaller network of this form does"
    )


def test_the_orbit_is_drawn_with_every_symbol_of_the_string(memspan):
    out = memspan("memorize", "abracadabra").out
    picture = out[out.index("\n\n") : out.index("Recurrence")]
    assert {symbol: picture.count(symbol) for symbol in "abcdr"} == {"a": 5, "b": 2, "c": 1, "d": 1, "r": 2}
    assert "·" in picture


def test_a_larger_network_has_no_picture_of_letters_but_all_its_facts(memspan):
    out = memspan("memorize", "0010110111").out
    assert "·" not in out
    for word in ("frequencies", "margin", "drift", "noise tolerance", "search", "sufficient size"):
        assert word in out


def test_the_network_is_saved_and_replays(memspan, tmp_path):
    path = tmp_path / "magic.safetensors"
    ran = memspan("memorize", "abracadabra", "--save", path)
    assert ran.out.splitlines()[-1] == f"written: {path}"
    assert load_network(path).replay(22) == 2 * "abracadabra"


def test_with_json_nothing_else_is_printed_and_the_result_comes_back(memspan, tmp_path):
    plain = memspan("memorize", "abracadabra", "--save", tmp_path / "n.safetensors", "--json").plain
    assert Memorization.from_json(plain).replay(11) == "abracadabra"
    assert plain["replay"] == 3 * "abracadabra"


def test_words_and_lines_can_be_symbols(memspan):
    words = memspan("memorize", "to be or not to be", "--as", "words", "--json").plain
    assert (words["period"], words["alphabet"], words["text"]) == (6, ["be", "not", "or", "to"], "to be or not to be")
    lines = memspan("memorize", "one two\nthree", "--as", "lines", "--json").plain
    assert lines["alphabet"] == ["one two", "three"]


def test_a_file_is_read_like_measure_reads_it(memspan, tmp_path):
    text, dna = tmp_path / "magic.txt", tmp_path / "gene.fa"
    text.write_text("abracadabra\n")
    dna.write_text(">gene\nACGTTA\nGC\n")
    plain = memspan("memorize", "--file", text, "--json").plain
    assert (plain["text"], plain["symbols"]) == ("abracadabra", "chars")
    assert "the newline at the end of the file was omitted" in plain["notes"]
    assert memspan("memorize", "--file", dna, "--json").plain["text"] == "ACGTTAGC"


def test_a_finite_string_ends(memspan):
    plain = memspan("memorize", "hello", "--terminate", "--json").plain
    assert (plain["replay"], plain["alphabet"][-1]) == ("hello<END>", "<END>")


def test_feedback_by_name_takes_one_unit(memspan):
    plain = memspan("memorize", "abracadabra", "--method", "feedback", "--json").plain
    assert (plain["hidden_size"], plain["verified_symbols"], plain["drift"]) == (1, 100_001, 0.0)


def test_a_budget_that_is_over_says_best_found(memspan):
    ran = memspan("memorize", "0010110100111010001101011101001110", "--budget", 0)
    assert "the smallest found; smaller ones are not ruled out" in ran.out.splitlines()[0]
    assert "a longer --budget may decide" in ran.out


def test_a_repeated_string_says_that_its_period_is_used(memspan):
    ran = memspan("memorize", "abcabc")
    assert "note: the string is 'abc' 2 times, so its period of 3 symbols is memorized" in ran.out


def test_a_learnt_network_is_set_beside(memspan):
    ran = memspan("memorize", "00000111", "--learn")
    assert "The same size, trained by gradient descent" in ran.out
    assert "roots of unity" in ran.out


def test_out_holds_the_page_and_the_figures(memspan, tmp_path):
    memspan("memorize", "abracadabra", "--out", tmp_path)
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert figures == {f"{name}.{end}" for name in ("orbit", "scores", "eigenvalues") for end in ("svg", "png")}
    assert "abracadabra" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "nothing to memorize; give a STRING, such as abracadabra, or --file FILE"),
        (("",), "the string is empty; give one symbol or more"),
        (("abc", "--file", "x.txt"), "both the string 'abc' and --file x.txt; give one of them"),
        (("abc", "--as", "dna"), "--as dna is for files"),
        (("   ", "--as", "words"), "the string is empty"),
        (("abc", "--save", "net.pt"), "--save net.pt does not end in .safetensors"),
        (("abc", "--save", "nowhere/net.safetensors"), "there is no folder nowhere"),
        (("abcab", "--method", "rotation"), "use --method spectral"),
        (("ab" * 26 + "a", "--method", "feedback"), "one hidden unit holds 52 in float64"),
        (("--file", "nowhere.txt"), "nowhere.txt"),
        (("abc", "--method", "magic"), "'magic' is not one of"),
        (("abc", "--budget", "-1"), "--budget"),
        (("<END>", "--as", "words", "--terminate"), "the string holds it already"),
        (("a" * 2_001 + "b",), "a period of 2,002 symbols; expected at most 2,000"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(memspan, arguments, told):
    ran = memspan("memorize", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert told in ran.err
    assert len(ran.err.splitlines()) == 1


def test_several_documents_are_refused(memspan, tmp_path):
    path = tmp_path / "genes.fa"
    path.write_text(">one\nACGT\n>two\nGGCC\n")
    ran = memspan("memorize", "--file", path)
    assert (ran.status, "8 symbols in 2 documents; expected one string" in ran.err) == (2, True)
