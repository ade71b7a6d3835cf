"""The studio: design a filter in the browser by dragging its response, and watch what it does to a signal.

``dfnets studio`` starts it. A small server on this machine designs and applies filters; one local page shows them. It
needs the packages of the extra ``studio`` (Starlette and uvicorn), and nothing outside this machine.
"""

from __future__ import annotations
