# SPDX-License-Identifier: Apache-2.0
"""
A service of notes: JSON, a form and a stream, on http://127.0.0.1:8080 or the address of the first argument.

    pip install ./python
    python examples/python/notes.py
    curl -d '{"text": "buy bananas"}' http://127.0.0.1:8080/notes
"""

import html
import sys
import threading

import monkey

server = monkey.Server(listen=sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8080")
notes = []
changed = threading.Condition()  # handlers run on several threads


def add(text):
    with changed:
        notes.append(text)
        changed.notify_all()
        return len(notes)


@server.get("/")
def page(request):
    items = "".join(f"<li>{html.escape(note)}" for note in notes)
    return monkey.Html(f"<!DOCTYPE html><title>Notes</title><ul>{items}</ul><form method=post><input name=text><button>Add</button></form>")


@server.post("/")
def from_form(request):
    add(request.form().get("text", [""])[0])
    return monkey.Response(None, 303, {"Location": "/"})


@server.get("/notes")
def all_notes(request):
    return [{"number": number, "text": text} for number, text in enumerate(notes, 1)]


@server.post("/notes")
def from_json(request):
    return {"number": add(request.json()["text"])}, 201


@server.get("/notes/<int:number>")
def one_note(request, number):
    if not 1 <= number <= len(notes):
        raise monkey.Abort(404)
    return {"number": number, "text": notes[number - 1]}


@server.get("/events")
def events(request):
    """Each note as a server-sent event, until the client closes the connection."""
    def stream():
        seen = 0
        while True:
            with changed:
                changed.wait_for(lambda: len(notes) > seen, timeout=15)
                fresh, seen = notes[seen:], len(notes)
            yield "".join(f"data: {note}\n\n" for note in fresh) or ": still here\n\n"
    return monkey.Response(stream(), type="text/event-stream")


if __name__ == "__main__":
    server.run(grace=1)
