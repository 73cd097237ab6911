"""Results as HTML: the sections of a page (`section`), pages in folders (`folder`) and notebook cells (`notebook`)."""
