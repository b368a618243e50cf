import { Tensor } from '../../client/index.ts';
import type { DigitReader } from '../digits/digit-parameters.ts';
import { PenPlayback } from '../digits/pen-playback.ts';
import {
  type Drawing,
  IMAGE_SIZE,
  rasterizeDrawing,
  type Stroke,
} from '../digits/rasterize-drawing.ts';
import { writeDigit } from '../digits/write-digit.ts';
import { DrawingPad, PAD_SIZE } from './drawing-pad.ts';
import { byId, context2d, element } from '../element.ts';
import type { DemoContext, Section } from '../demo-context.ts';
import { describeError } from '../../core/format-quantity.ts';
import { seededRandom } from '../../core/random.ts';
import { modelUrl, openSession } from '../open-session.ts';
import { bestDigit, formatPercent, ProbabilityBars } from './probability-bars.ts';

/**
 * Runs a task for the newest input only: while one run is under way, later inputs replace each
 * other, so that runs never pile up behind a fast pen or a slow device.
 */
export class LatestRunner<Input> {
  readonly #task: (input: Input) => Promise<void>;
  readonly #onIdle: (() => void) | undefined;
  #waiting: { readonly input: Input } | undefined;
  #running = false;

  /** `task` must not reject. `onIdle` is called when nothing is left to run. */
  constructor(task: (input: Input) => Promise<void>, onIdle?: () => void) {
    this.#task = task;
    this.#onIdle = onIdle;
  }

  submit(input: Input): void {
    this.#waiting = { input };
    if (!this.#running) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiting !== undefined) {
        const { input } = this.#waiting;
        this.#waiting = undefined;
        await this.#task(input);
      }
    } finally {
      this.#running = false;
    }
    this.#onIdle?.();
  }
}

const TITLE = 'digits.weft';
/** Places of the networks in the list. */
const SHIPPED = 0;
const TRAINED = 1;
const ANNOUNCE_AFTER_MS = 700;
const PROFILE_AFTER_MS = 250;
/** An example's height on the pad. */
const EXAMPLE_SIZE = 190;

/** Digits write themselves until somebody draws one; the network names each while the pen moves. */
export class DrawSection implements Section {
  readonly #context: DemoContext;
  readonly #pad: DrawingPad;
  readonly #bars = new ProbabilityBars(byId('bars', HTMLElement));
  readonly #answer = byId('answer', HTMLElement);
  readonly #text = byId('answer-text', HTMLElement);
  readonly #preview = context2d(byId('preview', HTMLCanvasElement));
  readonly #runner: LatestRunner<Drawing>;
  readonly #choice = byId('draw-network', HTMLSelectElement);
  /** The network that came with the page, and the one that was trained in it. */
  readonly #readers: (DigitReader | undefined)[] = [];
  #opening: Promise<void> | undefined;
  #isOpen = false;
  #lastImage: Tensor | undefined;
  #profileTimer: ReturnType<typeof setTimeout> | undefined;
  #announceTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #random = seededRandom(1);
  readonly #auto = byId('pad-auto', HTMLButtonElement);
  readonly #playback: PenPlayback;
  #nextDigit = 2;
  /** True if a person drew on the pad: only such answers are announced to screen readers. */
  #isOwn = false;

  constructor(context: DemoContext) {
    this.#context = context;
    this.#runner = new LatestRunner((drawing) => this.#read(drawing));
    this.#pad = new DrawingPad(byId('pad', HTMLCanvasElement), {
      onChange: (drawing) => this.#runner.submit(drawing),
      onTouch: () => this.#takeOver(),
      announce: (text) => context.announce(text),
    });
    this.#playback = new PenPlayback({
      next: () => this.#strokesOf(this.#nextDigit++ % 10),
      show: (strokes) => this.#pad.show(strokes),
    });
    byId('pad-clear', HTMLButtonElement).addEventListener('click', () => {
      this.#takeOver();
      this.#pad.clear();
    });
    byId('pad-undo', HTMLButtonElement).addEventListener('click', () => {
      this.#takeOver();
      this.#pad.undo();
    });
    this.#auto.addEventListener('click', () => this.#setWriting(!this.#playback.isRunning));
    this.#addExamples(byId('examples', HTMLElement));
    this.#choice.addEventListener('change', () => void this.#turnToReader());
  }

  /** From now on the pad can be read by this network too, and is. */
  offer(reader: DigitReader): void {
    this.#readers[TRAINED] = reader;
    byId('draw-choice', HTMLElement).hidden = false;
    this.#choice.selectedIndex = TRAINED;
    this.#runner.submit(this.#pad.drawing);
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    this.#opening ??= this.#load();
    if (!this.#isOwn && !this.#playback.isRunning) this.#beginToWrite();
    try {
      await this.#turnToReader();
      await this.#opening;
      await this.#turnToReader();
    } catch (error) {
      this.#opening = undefined;
      this.#text.textContent = 'The network could not be loaded.';
      throw error;
    }
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#profileTimer);
    this.#playback.stop();
  }

  /** Moves at once, or, where a visitor wants no motion, shows one digit that is written already. */
  #beginToWrite(): void {
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (isStill) this.#pad.show(this.#strokesOf(this.#nextDigit));
    else this.#setWriting(true);
  }

  #setWriting(isWriting: boolean): void {
    if (isWriting) {
      this.#isOwn = false;
      this.#playback.start();
    } else this.#playback.stop();
    this.#auto.textContent = isWriting ? 'Stop the pen' : 'Write by itself';
  }

  /** From now on the pad is the visitor's. */
  #takeOver(): void {
    if (!this.#isOwn && this.#playback.isRunning) this.#pad.clear();
    this.#isOwn = true;
    this.#setWriting(false);
  }

  get #reader(): DigitReader | undefined {
    return this.#readers[this.#choice.selectedIndex];
  }

  /** Shows the machine of the chosen network, and reads the pad anew. */
  async #turnToReader(): Promise<void> {
    const reader = this.#reader;
    if (this.#isOpen) {
      await this.#context.machine.show(reader?.session, reader?.title ?? TITLE);
      if (reader !== undefined) this.#context.showDevice(reader.session.device);
    }
    this.#runner.submit(this.#pad.drawing);
  }

  async #load(): Promise<void> {
    const session = await openSession(modelUrl(TITLE), (text) => {
      this.#text.textContent = `${text}…`;
    });
    this.#readers[SHIPPED] = {
      session,
      title: TITLE,
      async read(image) {
        const { probabilities } = await session.run({ image });
        return probabilities?.data as Float32Array;
      },
      profile: (image) => session.profile({ image }),
    };
    this.#showEmpty();
  }

  #showEmpty(): void {
    if (this.#pad.drawing.strokes.length === 0) this.#text.textContent = 'Draw a digit.';
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
    this.#takeOver();
    this.#pad.show(this.#strokesOf(digit));
  }

  /** A digit as some hand writes it, in the middle of the pad. */
  #strokesOf(digit: number): Stroke[] {
    const { strokes } = writeDigit(digit, this.#random);
    const points = strokes.flat();
    const xs = points.map(({ x }) => x);
    const ys = points.map(({ y }) => y);
    const [left, right] = [Math.min(...xs), Math.max(...xs)];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    const scale = EXAMPLE_SIZE / Math.max(right - left, bottom - top);
    const place = (value: number, low: number, high: number): number =>
      PAD_SIZE / 2 + (value - (low + high) / 2) * scale;
    return strokes.map((stroke) =>
      stroke.map(({ x, y }) => ({ x: place(x, left, right), y: place(y, top, bottom) })),
    );
  }

  async #read(drawing: Drawing): Promise<void> {
    const image = rasterizeDrawing(drawing);
    this.#showPreview(image);
    if (image === undefined) {
      this.#showNothing();
      return;
    }
    const reader = this.#reader;
    if (reader === undefined) return;
    const tensor = new Tensor('float32', image, [1, 1, IMAGE_SIZE, IMAGE_SIZE]);
    try {
      const probabilities = await reader.read(tensor);
      this.#lastImage = tensor;
      this.#showAnswer(probabilities);
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
    if (this.#reader !== undefined) this.#showEmpty();
  }

  #showAnswer(probabilities: Float32Array): void {
    const digit = bestDigit(probabilities);
    const percent = formatPercent(probabilities[digit] ?? 0);
    this.#bars.show(probabilities);
    this.#answer.textContent = String(digit);
    this.#text.textContent = `Looks like a ${digit}, ${percent} sure.`;
    clearTimeout(this.#announceTimer);
    if (!this.#isOwn) return;
    this.#announceTimer = setTimeout(
      () => this.#context.announce(`Looks like a ${digit}, ${percent}.`),
      ANNOUNCE_AFTER_MS,
    );
  }

  #showPreview(image: Float32Array | undefined): void {
    const pixels = this.#preview.createImageData(IMAGE_SIZE, IMAGE_SIZE);
    for (let i = 0; i < IMAGE_SIZE * IMAGE_SIZE; i++) {
      const value = 255 * (1 - (image?.[i] ?? 0));
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
    const reader = this.#reader;
    if (reader === undefined || this.#lastImage === undefined) return;
    try {
      const profile = await reader.profile(this.#lastImage);
      await this.#context.machine.showProfile(reader.session, profile);
    } catch (error) {
      this.#text.textContent = describeError(error);
    }
  }
}
