import { type Session, Tensor } from '../client/index.ts';
import { type Drawing, IMAGE_SIZE, rasterizeDrawing } from './digits/rasterize-drawing.ts';
import { writeDigit } from './digits/write-digit.ts';
import { DrawingPad, PAD_SIZE } from './drawing-pad.ts';
import { byId, context2d, element } from './element.ts';
import type { DemoContext, Section } from './demo-context.ts';
import { describeError } from './format-quantity.ts';
import { seededRandom } from '../core/random.ts';
import { LatestRunner } from './latest-runner.ts';
import { kernelTime } from './machine-view.ts';
import { modelUrl, openSession } from './open-session.ts';
import { bestDigit, formatPercent, ProbabilityBars } from './probability-bars.ts';

const TITLE = 'digits.weft';
const ANNOUNCE_AFTER_MS = 700;
const PROFILE_AFTER_MS = 250;
/** An example's height on the pad. */
const EXAMPLE_SIZE = 190;

/** Draw a digit, and the network names it while the pen moves. */
export class DrawSection implements Section {
  readonly #context: DemoContext;
  readonly #pad: DrawingPad;
  readonly #bars = new ProbabilityBars(byId('bars', HTMLElement));
  readonly #answer = byId('answer', HTMLElement);
  readonly #text = byId('answer-text', HTMLElement);
  readonly #preview = context2d(byId('preview', HTMLCanvasElement));
  readonly #runner: LatestRunner<Drawing>;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #isOpen = false;
  #lastImage: Tensor | undefined;
  #profileTimer: ReturnType<typeof setTimeout> | undefined;
  #announceTimer: ReturnType<typeof setTimeout> | undefined;
  #exampleSeed = 1;

  constructor(context: DemoContext) {
    this.#context = context;
    this.#runner = new LatestRunner((drawing) => this.#read(drawing));
    this.#pad = new DrawingPad(byId('pad', HTMLCanvasElement), {
      onChange: (drawing) => this.#runner.submit(drawing),
      announce: (text) => context.announce(text),
    });
    byId('pad-clear', HTMLButtonElement).addEventListener('click', () => this.#pad.clear());
    byId('pad-undo', HTMLButtonElement).addEventListener('click', () => this.#pad.undo());
    this.#addExamples(byId('examples', HTMLElement));
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#context.machine.show(this.#session, TITLE);
    this.#opening ??= this.#load();
    try {
      const session = await this.#opening;
      if (this.#isOpen) await this.#context.machine.show(session, TITLE);
    } catch (error) {
      this.#opening = undefined;
      this.#text.textContent = 'The network could not be loaded.';
      throw error;
    }
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#profileTimer);
  }

  async #load(): Promise<Session> {
    const session = await openSession(modelUrl(TITLE), (text) => {
      this.#text.textContent = `${text}…`;
    });
    this.#session = session;
    this.#text.textContent = 'Draw a digit.';
    this.#context.showDevice(session.device);
    // A drawing that changed meanwhile is read now.
    this.#runner.submit(this.#pad.drawing);
    return session;
  }

  #addExamples(group: HTMLElement): void {
    for (let digit = 0; digit < 10; digit++) {
      const label = `Write a ${digit}`;
      const button = element('button', { type: 'button', 'aria-label': label }, String(digit));
      button.addEventListener('click', () => this.#writeExample(digit));
      group.append(button);
    }
  }

  #writeExample(digit: number): void {
    const { strokes } = writeDigit(digit, seededRandom(this.#exampleSeed++));
    const points = strokes.flat();
    const xs = points.map(({ x }) => x);
    const ys = points.map(({ y }) => y);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    const scale = EXAMPLE_SIZE / Math.max(right - left, bottom - top);
    const place = (value: number, low: number, high: number): number =>
      PAD_SIZE / 2 + (value - (low + high) / 2) * scale;
    this.#pad.show(
      strokes.map((stroke) =>
        stroke.map(({ x, y }) => ({ x: place(x, left, right), y: place(y, top, bottom) })),
      ),
    );
  }

  async #read(drawing: Drawing): Promise<void> {
    const image = rasterizeDrawing(drawing);
    this.#showPreview(image);
    if (image === undefined) {
      this.#showNothing();
      return;
    }
    if (this.#session === undefined) return;
    const tensor = new Tensor('float32', image, [1, 1, IMAGE_SIZE, IMAGE_SIZE]);
    try {
      const started = performance.now();
      const { probabilities } = await this.#session.run({ image: tensor });
      this.#context.flow.showRun({ roundTripMs: performance.now() - started });
      this.#lastImage = tensor;
      if (probabilities !== undefined) this.#showAnswer(probabilities.data as Float32Array);
      this.#scheduleProfile();
    } catch (error) {
      this.#context.fail(error);
    }
  }

  #showNothing(): void {
    clearTimeout(this.#announceTimer);
    clearTimeout(this.#profileTimer);
    this.#bars.show(undefined);
    this.#answer.textContent = '–';
    if (this.#session !== undefined) this.#text.textContent = 'Draw a digit.';
  }

  #showAnswer(probabilities: Float32Array): void {
    const digit = bestDigit(probabilities);
    const percent = formatPercent(probabilities[digit] ?? 0);
    this.#bars.show(probabilities);
    this.#answer.textContent = String(digit);
    this.#text.textContent = `Looks like a ${digit}, ${percent} sure.`;
    clearTimeout(this.#announceTimer);
    this.#announceTimer = setTimeout(
      () => this.#context.announce(`Looks like a ${digit}, ${percent}.`),
      ANNOUNCE_AFTER_MS,
    );
  }

  #showPreview(image: Float32Array | undefined): void {
    const pixels = this.#preview.createImageData(IMAGE_SIZE, IMAGE_SIZE);
    for (let i = 0; i < IMAGE_SIZE * IMAGE_SIZE; i++) {
      const value = 255 * (image?.[i] ?? 0);
      pixels.data.set([value, value, value, 255], i * 4);
    }
    this.#preview.putImageData(pixels, 0, 0);
  }

  /** Profiling keeps other runs waiting, so it is done when the pen rests. */
  #scheduleProfile(): void {
    clearTimeout(this.#profileTimer);
    this.#profileTimer = setTimeout(() => void this.#profile(), PROFILE_AFTER_MS);
  }

  async #profile(): Promise<void> {
    const session = this.#session;
    if (session === undefined || this.#lastImage === undefined) return;
    try {
      const started = performance.now();
      const profile = await session.profile({ image: this.#lastImage });
      this.#context.flow.showRun({
        roundTripMs: performance.now() - started,
        instructions: profile.instructions,
        kernels: profile.kernels.length,
        kernelMs: kernelTime(profile.kernels),
      });
      await this.#context.machine.showProfile(session, profile);
    } catch (error) {
      this.#text.textContent = describeError(error);
    }
  }
}
