import { element } from '../element.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** Units of the drawing; the style sheet scales it. */
const WIDTH = 300;
const HEIGHT = 110;

/** A value at a step. */
export interface PlotPoint {
  readonly step: number;
  readonly value: number;
}

/** The axes and words of a plot. */
export interface PlotOptions {
  readonly title: string;
  /** The last step of the axis. */
  readonly steps: number;
  /** The top of the axis; what is above it is drawn there. */
  readonly top: number;
  readonly format: (value: number) => string;
}

/** A line over the steps of a training, in a figure with a caption that says the latest value. */
export class LinePlot {
  readonly root: HTMLElement;
  readonly #options: PlotOptions;
  readonly #line = drawn('polyline', { class: 'plot-line' });
  readonly #latest = element('strong', {}, '–');
  #isDrawing = false;
  #points: readonly PlotPoint[] = [];

  constructor(options: PlotOptions) {
    this.#options = options;
    const { title, top, format, steps } = options;
    const picture = drawn('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, 'aria-hidden': 'true' });
    for (const share of [0, 0.5, 1]) {
      const y = HEIGHT * share;
      picture.append(drawn('line', { class: 'plot-grid', x1: 0, x2: WIDTH, y1: y, y2: y }));
    }
    picture.append(this.#line);
    const scale = element(
      'div',
      { class: 'plot-scale', 'aria-hidden': 'true' },
      ...[top, top / 2, 0].map((value) => element('span', {}, format(value))),
    );
    const caption = element('figcaption', {}, `${title} `, this.#latest);
    const last = element('span', { class: 'plot-last', 'aria-hidden': 'true' }, `step ${steps}`);
    const frame = element('div', { class: 'plot-frame' }, scale, picture);
    this.root = element('figure', { class: 'plot' }, caption, frame, last);
  }

  /** Draws with the next frame, however often it is called before. */
  show(points: readonly PlotPoint[]): void {
    this.#points = points;
    const latest = points[points.length - 1];
    this.#latest.textContent = latest === undefined ? '–' : this.#options.format(latest.value);
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#line.setAttribute(
        'points',
        this.#points.map((point) => this.#placeOf(point)).join(' '),
      );
    });
  }

  #placeOf({ step, value }: PlotPoint): string {
    const { steps, top } = this.#options;
    const x = (WIDTH * step) / steps;
    const y = HEIGHT * (1 - Math.min(1, Math.max(0, value / top)));
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  }
}

function drawn(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
