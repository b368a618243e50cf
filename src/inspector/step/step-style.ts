/** The style of the view *Step*, beside that of the inspector. */
export const STEP_STYLE = /* css */ `
.step { flex: 1; min-inline-size: 0; display: flex; flex-direction: column; background: var(--weft-surface); }
.step > * { flex: none; }
.step .toolbar { padding: 8px 12px 0; }
.step button[aria-disabled="true"] { color: var(--weft-muted); border-color: var(--weft-line); cursor: default; }
.step [role="status"] { margin: 0; padding: 6px 12px; min-block-size: 32px; overflow-wrap: anywhere; }
.step [role="status"][data-bad] { color: var(--weft-bad); white-space: pre-wrap; max-block-size: 8em; overflow: auto; }
.step > .step-columns { flex: 1; min-block-size: 0; display: grid; grid-template-columns: minmax(0, 1.5fr) minmax(0, 1fr) minmax(0, 1fr); gap: 1px; background: var(--weft-line); border-block-start: 1px solid var(--weft-line); }
.step-columns > section { min-block-size: 0; overflow: auto; padding: 10px 12px; background: var(--weft-surface); }
.step-columns > .step-code { display: flex; padding: 0; }
.step-columns h4 { margin: 12px 0 4px; font-size: 13px; font-weight: normal; color: var(--weft-muted); }
.line-margin { display: inline-block; inline-size: 18px; block-size: 19px; margin-inline: -12px 4px; vertical-align: top; background: radial-gradient(circle at 50% 50%, transparent 5px, transparent 0); }
.line-margin:hover { background: radial-gradient(circle at 50% 50%, var(--weft-line) 5px, transparent 5.5px); }
.line-margin[data-marked] { background: radial-gradient(circle at 50% 50%, var(--weft-bad) 5px, transparent 5.5px); }
.step .frames, .step .registers, .step .breakpoints, .step .storages { list-style: none; margin: 4px 0 0; padding: 0; }
.step .frames button, .step .registers button { inline-size: 100%; text-align: start; border-color: transparent; padding: 1px 6px; min-block-size: 24px; overflow-wrap: anywhere; }
.step .frames button[aria-pressed="true"], .step .registers button[aria-pressed="true"] { background: var(--weft-accent-soft); color: var(--weft-ink); border-color: var(--weft-accent); }
.step .sources { display: block; color: var(--weft-muted); font-size: 12px; }
.step .breakpoints { display: flex; flex-wrap: wrap; gap: 4px; padding: 6px 12px 0; }
.step .breakpoints:empty { display: none; }
.step .conditions { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; padding: 6px 12px 0; }
.step .conditions input[type="checkbox"] { min-block-size: 0; }
.step .conditions input[type="number"] { inline-size: 6em; }
.step .history { display: flex; gap: 8px; align-items: center; }
.step .history input { inline-size: 160px; padding: 0; accent-color: var(--weft-accent); }
.step dd[data-bad] { color: var(--weft-bad); font-weight: bold; }
.histogram { display: block; inline-size: 100%; block-size: 60px; margin-block: 6px; background: var(--weft-sunken); }
.histogram rect { fill: var(--weft-accent); }
.picture { inline-size: auto; block-size: auto; min-inline-size: 96px; max-inline-size: 100%; margin-block: 6px; cursor: default; touch-action: auto; image-rendering: pixelated; border: 1px solid var(--weft-line); }
.elements { overflow: auto; }
.elements td { text-align: end; padding: 0 10px 0 0; }
.slots { display: flex; flex-wrap: wrap; gap: 2px; list-style: none; margin: 0; padding: 0; }
.slots li { min-inline-size: 28px; padding: 2px 6px; text-align: center; background: var(--weft-sunken); border: 1px solid var(--weft-line); }
.step .storages li { margin-block-end: 6px; font-size: 13px; }
.storage { display: block; inline-size: 100%; block-size: 14px; }
.storage-all { fill: var(--weft-sunken); stroke: var(--weft-line); vector-effect: non-scaling-stroke; }
.storage-tensor { fill: var(--weft-accent); }
@container (max-width: 640px) {
  .step { overflow: auto; }
  .step .toolbar { position: sticky; inset-block-start: 0; z-index: 1; padding-block-end: 6px; background: var(--weft-surface); }
  .step > .step-columns { flex: none; grid-template-columns: minmax(0, 1fr); }
  .step-columns > section { overflow: visible; }
  .step-columns > .step-code { block-size: 220px; }
}
`;
