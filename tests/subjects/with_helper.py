"""Subjects written with the Python helper: `with_helper.py stateless|stateful`. Both project a history as it is."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../clients/python"))
import callpair_subject

print("printed while loading", flush=True)
os.system("echo printed by a child; cat")


def project(history, modalities):
    for item in history:
        for part in item["content"]:
            if part["text"] == "refuse":
                raise callpair_subject.Refused("as it was asked to")
            if part["text"] == "raise":
                raise ValueError("it went wrong")
    return history


class Session:
    def __init__(self):
        self.reset()

    def reset(self):
        self.live = []
        self.durable = []

    def record(self, items):
        self.live += items
        self.durable += items

    def replace(self, items):
        self.live = items
        self.durable = list(items)

    def project(self, modalities):
        return project(self.live, modalities)

    def snapshot(self):
        return self.live

    def resume(self):
        self.live = list(self.durable)


subject = project if sys.argv[1] == "stateless" else Session()
callpair_subject.serve(subject, name="with helper", numbers="exact")
