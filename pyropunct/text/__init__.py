"""Raw text: lines, words, marks, spacing; no trees, no tensors.

Bytes, strings and files come in; sentences of words with the marks and spaces between (`RawSentence`) go out,
and text with other marks as it is printed, also inside subtitles, tables and transcripts.  All rooms from
`pyropunct.treebank` up may call this one.
"""
