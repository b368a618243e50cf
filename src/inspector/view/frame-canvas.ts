import { coloursOf } from './colours.ts';

/** The size of a frame in CSS pixels, and its colours at the moment. */
interface DrawnFrame<Name extends string> {
  readonly width: number;
  readonly height: number;
  readonly colours: Readonly<Record<Name, string>>;
}

interface FrameCanvasOptions<Name extends string> {
  /** Names of colours, as {@link coloursOf} has them. */
  readonly colours: readonly Name[];
  readonly draw: (context: CanvasRenderingContext2D, frame: DrawnFrame<Name>) => void;
}

/** A canvas that is drawn as a whole, at most once in a frame: when it is asked for, has another size, or the system other colours. */
export class FrameCanvas<Name extends string> {
  readonly canvas = document.createElement('canvas');
  readonly #options: FrameCanvasOptions<Name>;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  #frame: number | undefined;

  constructor(className: string, options: FrameCanvasOptions<Name>) {
    this.canvas.className = className;
    this.#options = options;
    this.#scheme.addEventListener('change', () => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  redraw(): void {
    if (this.#frame !== undefined) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#draw();
    });
  }

  #draw(): void {
    const { canvas } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    const context = canvas.getContext('2d');
    if (context === null || width === 0) return;
    // Setting a size clears the canvas.
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(height * devicePixelRatio);
    context.scale(devicePixelRatio, devicePixelRatio);
    const { colours, draw } = this.#options;
    draw(context, { width, height, colours: coloursOf(canvas, colours) });
  }
}
