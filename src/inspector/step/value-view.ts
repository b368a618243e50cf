import { html, nothing, svg, type TemplateResult } from 'lit-html';
import type {
  DebugDetail,
  TensorDetail,
  TensorPicture,
  TensorStatistics,
} from '../../worker/protocol/debug-order.ts';

const SHOWN_COLUMNS = 8;
const SHOWN_ROWS = 16;
const BAR_WIDTH = 8;
const HISTOGRAM_HEIGHT = 60;

/** A value in full: a tensor as numbers, histogram, picture and table. `onPart` is called with the number of a part. */
export function valueView(
  detail: DebugDetail,
  onPart: (index: number) => void,
): TemplateResult | typeof nothing {
  switch (detail.kind) {
    case 'tensor':
      return tensorView(detail);
    case 'parts':
      return html`<p>${detail.text}</p>
        <ul class="registers">
          ${detail.parts.map(
            ({ index, text }) => html`<li>
              <button type="button" @click=${() => onPart(index)}>
                <span class="mono">${index}</span> ${text}
              </button>
            </li>`,
          )}
        </ul>`;
    case 'heap':
      return heapView(detail.slots);
    case 'other':
      return html`<p class="mono">${detail.text}</p>`;
    default:
      return detail satisfies never;
  }
}

/** Slots of a shape heap in a row. */
export function heapView(slots: readonly number[]): TemplateResult {
  return html`<ol class="slots" start="0" aria-label="Slots">
    ${slots.map((slot) => html`<li class="mono">${slot}</li>`)}
  </ol>`;
}

function tensorView({
  dtype,
  shape,
  statistics,
  histogram,
  first,
  picture,
}: TensorDetail): TemplateResult {
  return html`<p class="mono">${dtype} (${shape.join(', ')})</p>
    ${statisticsView(statistics)} ${histogramView(histogram, statistics)}
    ${picture === undefined ? nothing : pictureView(picture)}
    ${elementsView(first, shape.at(-1) ?? 1, statistics.count)}`;
}

function statisticsView(statistics: TensorStatistics): TemplateResult {
  const { minimum, maximum, mean, deviation, nans, infinities, zeros, count } = statistics;
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['from', `${formatNumber(minimum)} to ${formatNumber(maximum)}`, false],
    ['mean', formatNumber(mean), false],
    ['deviation', formatNumber(deviation), false],
    ['zeros', `${zeros} of ${count}`, false],
    ['NaN', String(nans), nans > 0],
    ['infinities', String(infinities), infinities > 0],
  ];
  return html`<dl>
    ${rows.map(
      ([name, text, isBad]) => html`<dt>${name}</dt>
        <dd class="mono" ?data-bad=${isBad}>${text}</dd>`,
    )}
  </dl>`;
}

function histogramView(
  bins: readonly number[],
  { minimum, maximum }: TensorStatistics,
): TemplateResult | typeof nothing {
  const most = Math.max(...bins);
  if (most === 0) return nothing;
  const label = `Histogram from ${formatNumber(minimum)} to ${formatNumber(maximum)}`;
  return html`<svg
    class="histogram"
    role="img"
    aria-label=${label}
    viewBox=${`0 0 ${bins.length * BAR_WIDTH} ${HISTOGRAM_HEIGHT}`}
    preserveAspectRatio="none"
  >
    ${bins.map((count, bin) => {
      // A bin with one element among thousands is seen too.
      const height = count === 0 ? 0 : Math.max(1, (count / most) * HISTOGRAM_HEIGHT);
      return svg`<rect
        x=${bin * BAR_WIDTH}
        y=${HISTOGRAM_HEIGHT - height}
        width=${BAR_WIDTH - 1}
        height=${height}
      ></rect>`;
    })}
  </svg>`;
}

/** Call when a picture was rendered. */
export function drawPicture(root: ParentNode, detail: DebugDetail | undefined): void {
  if (detail?.kind !== 'tensor' || detail.picture === undefined) return;
  const { width, height, rgba } = detail.picture;
  const context = root.querySelector<HTMLCanvasElement>('canvas.picture')?.getContext('2d');
  context?.putImageData(new ImageData(rgba, width, height), 0, 0);
}

function pictureView({ width, height }: TensorPicture): TemplateResult {
  return html`<canvas
    class="picture"
    role="img"
    aria-label=${`The tensor as a picture, ${width} by ${height}`}
    width=${width}
    height=${height}
  ></canvas>`;
}

/** Rows as long as the last dimension, as far as they are there. */
function elementsView(
  first: readonly number[],
  rowLength: number,
  count: number,
): TemplateResult | typeof nothing {
  if (first.length === 0) return nothing;
  const columns = Math.max(1, Math.min(rowLength, SHOWN_COLUMNS));
  const rows: (readonly number[])[] = [];
  for (let at = 0; at < first.length && rows.length < SHOWN_ROWS; at += Math.max(1, rowLength)) {
    rows.push(first.slice(at, at + columns));
  }
  const shown = rows.reduce((sum, row) => sum + row.length, 0);
  return html`<div class="elements" tabindex="0" role="region" aria-label="First elements">
      <table>
        <tbody>
          ${rows.map(
            (row) => html`<tr>
              ${row.map((element) => html`<td class="mono">${formatNumber(element)}</td>`)}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${shown < count ? html`<p class="facts">${shown} of ${count} elements</p>` : nothing}`;
}

/** Short, and exact where that is short. */
function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return Number.isFinite(value) ? value.toPrecision(4) : String(value);
}
