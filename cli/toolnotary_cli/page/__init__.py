# SPDX-License-Identifier: Apache-2.0
"""The review page: `approve --page` asks in a browser on this machine, with the facts of the terminal.

- `markup`: HTML in which nothing can go unescaped
- `style`: how it looks, in light and dark
- `writing`: texts and their differences, in pieces of bounded size
- `sheets`: a question as one page or several, all of it reachable
- `screens`: whole pages
- `board`: what the page shows now, and the one answer to it
- `peers`: whose process the other end of a connection is
- `visit`: one request, judged before it is answered
- `door`: where requests come in
- `review`: the asker that puts these together
"""
