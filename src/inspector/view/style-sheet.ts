/** The style of the inspector, as a style sheet that a strict policy allows. */
export const STYLE = /* css */ `
:host {
  color-scheme: light dark;
  --weft-paper: #f7f6f2;
  --weft-surface: #ffffff;
  --weft-sunken: #efede6;
  --weft-ink: #1c2322;
  --weft-muted: #56625f;
  --weft-line: #bdb9ad;
  --weft-accent: #0d6864;
  --weft-accent-soft: #d7ebe8;
  --weft-on-accent: #ffffff;
  --weft-heat: #c2541d;
  --weft-bad: #a3271c;
  --weft-good: #2f7d32;
  --weft-font: system-ui, sans-serif;
  --weft-mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
  display: block;
  container-type: inline-size;
  block-size: 640px;
  font: 14px/1.45 var(--weft-font);
  color: var(--weft-ink);
  background: var(--weft-paper);
  border: 1px solid var(--weft-line);
  border-radius: 10px;
  overflow: hidden;
}
@media (prefers-color-scheme: dark) {
  :host {
    --weft-paper: #121716;
    --weft-surface: #1a2120;
    --weft-sunken: #0d1110;
    --weft-ink: #e6ebe9;
    --weft-muted: #9aa8a5;
    --weft-line: #46524f;
    --weft-accent: #63cdc3;
    --weft-accent-soft: #17403d;
    --weft-on-accent: #06211f;
    --weft-heat: #f2914b;
    --weft-bad: #ff9a8d;
    --weft-good: #7fce83;
  }
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
.inspector { display: flex; flex-direction: column; block-size: 100%; }
header { display: flex; flex-wrap: wrap; gap: 6px 12px; align-items: center; padding: 8px 12px; border-block-end: 1px solid var(--weft-line); background: var(--weft-surface); }
h2, h3 { margin: 0; font-size: 15px; }
h3 { font-size: 13px; color: var(--weft-muted); margin-block-start: 12px; }
h3:first-child { margin-block-start: 0; }
.facts { color: var(--weft-muted); font-size: 13px; }
.tabs { display: flex; flex-wrap: wrap; gap: 2px; }
button, select, input { font: inherit; color: inherit; background: var(--weft-surface); border: 1px solid var(--weft-line); border-radius: 6px; padding: 3px 9px; min-block-size: 28px; }
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--weft-accent); }
button:disabled { color: var(--weft-muted); cursor: default; }
button[aria-selected="true"], button[aria-pressed="true"] { background: var(--weft-accent); color: var(--weft-on-accent); border-color: var(--weft-accent); }
:focus-visible { outline: 2px solid var(--weft-accent); outline-offset: 1px; }
.panel { flex: 1; min-block-size: 0; display: flex; }
.panel[hidden] { display: none; }
.graph { position: relative; flex: 1; min-inline-size: 0; }
canvas { display: block; inline-size: 100%; block-size: 100%; touch-action: none; cursor: grab; }
canvas:focus-visible { outline-offset: -3px; }
.tools { position: absolute; inset-block-start: 8px; inset-inline-start: 8px; display: flex; gap: 4px; }
aside { inline-size: 300px; overflow: auto; padding: 10px 12px; border-inline-start: 1px solid var(--weft-line); background: var(--weft-surface); }
aside ul { list-style: none; margin: 4px 0 0; padding: 0; }
aside li { margin: 0; }
aside li button { inline-size: 100%; text-align: start; border-color: transparent; padding: 1px 6px; min-block-size: 24px; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 10px; margin: 4px 0; }
dt { color: var(--weft-muted); }
dd { margin: 0; overflow-wrap: anywhere; }
.depth-2 { padding-inline-start: 14px; }
.depth-3 { padding-inline-start: 28px; }
.depth-4 { padding-inline-start: 42px; }
.message { margin: auto; padding: 24px; max-inline-size: 60ch; }
.message[data-kind="error"] { color: var(--weft-bad); white-space: pre-wrap; }
.visually-hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
code, pre, .mono { font-family: var(--weft-mono); font-size: 12px; }
#code { gap: 1px; background: var(--weft-line); }
#code section { flex: 1; min-inline-size: 0; min-block-size: 0; display: flex; flex-direction: column; background: var(--weft-surface); }
#code section:nth-child(2) { flex: 1.6; }
#code h3 { margin: 0; padding: 6px 12px; }
.lines { position: relative; flex: 1; overflow: auto; font: 12px/19px var(--weft-mono); }
.line { position: absolute; inset-inline: 0; min-inline-size: max-content; block-size: 19px; padding-inline: 12px; white-space: pre; cursor: pointer; }
.line[data-minor] { color: var(--weft-muted); }
.line[data-sign="+"] { color: var(--weft-good); }
.line[data-sign="-"] { color: var(--weft-bad); }
.line:hover { background: var(--weft-sunken); }
.line[aria-selected="true"] { background: var(--weft-accent-soft); color: var(--weft-ink); }
.line-note { float: right; padding-inline-start: 24px; color: var(--weft-heat); }
#code pre { flex: 0 1 auto; margin: 0; padding: 4px 12px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.memory { flex: 1; min-inline-size: 0; min-block-size: 0; display: flex; flex-direction: column; }
.memory .toolbar { padding: 8px 12px; }
.memory canvas { flex: 1; min-block-size: 0; cursor: default; touch-action: auto; }
.passes { flex: 1; min-inline-size: 0; display: flex; flex-direction: column; background: var(--weft-surface); }
.passes .toolbar { padding: 8px 12px; }
.columns { flex: 1; min-block-size: 0; display: flex; border-block-start: 1px solid var(--weft-line); }
.columns[hidden] { display: none; }
.columns .lines:first-child { flex: 0 0 340px; border-inline-end: 1px solid var(--weft-line); }
.kernel-code { margin-block: 8px; }
.kernel-code[hidden], .lines[hidden] { display: none; }
.kernel-code summary { cursor: pointer; padding: 3px 0; }
.kernel-code .facts { margin: 4px 0; }
.kernel-code .lines { block-size: 320px; border: 1px solid var(--weft-line); }
#code .kernel-code { flex: 0 0 auto; margin: 0; border-block-start: 1px solid var(--weft-line); padding: 4px 12px; }
#code .kernel-code[open] { flex: 1 1 0; min-block-size: 0; overflow: auto; }
#code pre:has(+ [open]) { max-block-size: 40%; }
.run { flex: 1; overflow: auto; padding: 10px 12px; background: var(--weft-surface); }
.toolbar { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
.toolbar input { inline-size: 6em; }
table { border-collapse: collapse; }
th { text-align: start; color: var(--weft-muted); font-weight: normal; }
th, td { padding: 2px 12px 2px 0; }
@container (max-width: 640px) {
  .panel, .columns { flex-direction: column; }
  .columns .lines:first-child { flex: 2 1 0; border-inline-end: 0; border-block-end: 1px solid var(--weft-line); }
  .columns .lines { flex: 3 1 0; min-block-size: 0; }
  #code section:has([open]) { flex: 4; }
  aside { inline-size: 100%; max-block-size: 45%; border-inline-start: 0; border-block-start: 1px solid var(--weft-line); }
}
`;
