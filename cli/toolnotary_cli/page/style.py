# SPDX-License-Identifier: Apache-2.0
"""How a review page looks: calm, readable on a phone, light or dark as the reader has it."""

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--paper:#fbfaf7;--card:#fff;--ink:#1d2327;--soft:#5b656d;--line:#e2dfd8;
--warn:#8a4b00;--warn-paper:#fdf1dc;--good:#14603a;--good-paper:#dcf1e4;--bad:#98202a;--bad-paper:#fbe0e0;
--accent:#1f5f8b;--on-accent:#fff}
@media(prefers-color-scheme:dark){:root{--paper:#14181b;--card:#1c2226;--ink:#e4e8ea;--soft:#9aa6ae;
--line:#2f383e;--warn:#f0b866;--warn-paper:#3a2c14;--good:#8fdcae;--good-paper:#153524;--bad:#ff9c9c;
--bad-paper:#43191c;--accent:#7cc0ee;--on-accent:#0d1b26}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main{max-width:52rem;margin:0 auto;padding:1.5rem 1.1rem 4rem}
.brand{margin:0 0 1.6rem;color:var(--soft);font-size:.85rem;letter-spacing:.08em}
h1{font-size:1.55rem;line-height:1.25;margin:0 0 .5rem;font-weight:650}
h2{font-size:1.05rem;margin:0;font-weight:600}
h2 code{font-size:1em}
h3{font-size:.85rem;margin:1.1rem 0 .35rem;color:var(--soft);font-weight:600}
p{margin:.4rem 0}
.lead{color:var(--soft);margin:0 0 1.4rem}
code,.text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace;
font-size:.875rem}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1.2rem;margin:0 0 1.4rem;
padding:1rem 1.1rem;
background:var(--card);border:1px solid var(--line);border-radius:.7rem}
.facts dt{color:var(--soft)}
.facts dd{margin:0;min-width:0;unicode-bidi:isolate}
.counts{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:0 0 1.4rem;padding:0}
.counts li,.badge{border:1px solid var(--line);border-radius:1rem;padding:.05rem .7rem;font-size:.85rem;
background:var(--card);white-space:nowrap}
.badge.kept{background:var(--bad-paper);color:var(--bad);border-color:transparent}
.badge.noted{background:var(--warn-paper);color:var(--warn);border-color:transparent}
article{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:1rem 1.1rem;
margin:0 0 1rem}
article header{display:flex;flex-wrap:wrap;gap:.5rem .8rem;align-items:center}
article header h2{flex:1 1 12rem;min-width:0;unicode-bidi:isolate}
.why{color:var(--soft);font-size:.9rem}
.text{white-space:pre-wrap;margin:.2rem 0;padding:.6rem .75rem;background:var(--paper);
border:1px solid var(--line);
border-radius:.5rem;direction:ltr;text-align:left;unicode-bidi:isolate}
ins,del{unicode-bidi:isolate;border-radius:.2rem;padding:.05em .12em;-webkit-box-decoration-break:clone;
box-decoration-break:clone}
ins{background:var(--good-paper);color:var(--good);text-decoration:underline}
del{background:var(--bad-paper);color:var(--bad);text-decoration:line-through}
.text.new{border-left:3px solid var(--good)}
.text.old{border-left:3px solid var(--bad)}
.text.new ins,.text.old del{background:none;text-decoration:none;padding:0}
.text b{color:var(--warn);background:var(--warn-paper);border-radius:.2rem;font-weight:600}
ins .u,del .text.new{border-left:3px solid var(--good)}
.text.old{border-left:3px solid var(--bad)}
.text.new ins,.text.old del{background:none;text-decoration:none;padding:0}
.text b{color:inherit;background:none;outline:1px solid currentColor}
.note{background:var(--warn-paper);color:var(--warn);border-radius:.6rem;padding:.6rem .9rem;
margin:0 0 .8rem}
details{margin:.6rem 0}
summary{cursor:pointer;color:var(--accent);font-size:.9rem;padding:.2rem 0}
details.fold{display:inline;margin:0}
details.fold summary{display:inline;list-style:none;border:1px dashed var(--line);border-radius:.3rem;
padding:0 .4rem;font-size:.8rem}
nav ul{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;padding:0;margin:.6rem 0 1.2rem}
nav a{display:inline-block;min-width:2.75rem;text-align:center;padding:.45rem .6rem;
border:1px solid var(--line);
border-radius:.5rem;color:var(--accent);background:var(--card);text-decoration:none}
nav a.unread{border-color:var(--warn);color:var(--warn)}
nav a[aria-current]{background:var(--accent);color:var(--on-accent)}
form{border-top:1px solid var(--line);margin-top:1.8rem;padding-top:1.2rem}
.digest{color:var(--soft)}
.buttons{display:flex;flex-wrap:wrap;gap:.8rem;margin-top:1rem}
button{font:inherit;font-weight:600;min-height:2.9rem;padding:.5rem 1.6rem;border-radius:.6rem;
cursor:pointer;
border:1px solid var(--accent);background:var(--card);color:var(--accent);flex:0 1 auto}
button.yes{background:var(--accent);color:var(--on-accent)}
a:focus-visible,button:focus-visible,summary:focus-visible{outline:3px solid var(--accent);
outline-offset:2px}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(max-width:34rem){.facts{grid-template-columns:1fr;gap:.1rem}.facts dd{margin:0 0 .6rem}
.buttons button{flex:1 1 100%}main{padding:1.1rem .9rem 3rem}}
"""
