"""The programs of docs/guide/programs.md, and the output that the page shows."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "programs.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.usefixtures("single_precision")
def test_the_programs_do_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    details, in_spacy, service = blocks("python")
    for code, shown in zip((details, in_spacy), blocks("text"), strict=True):
        exec(code, {})
        assert capsys.readouterr().out == shown
    names: dict[str, object] = {"__name__": "service"}
    exec(service, names)
    client = TestClient(names["app"])  # type: ignore[arg-type]
    assert client.post("/restore", json={"text": "however we went"}).json() == {"text": "However, we went."}
    assert client.post("/restore", json={"text": "a" * 100_001}).status_code == 422
    assert 'host="127.0.0.1"' in service
