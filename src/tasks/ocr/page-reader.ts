import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Session } from '../../client/session.ts';
import { Tensor } from '../../client/values/tensor.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import type { Rgb } from '../../core/pictures/pixels.ts';
import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';
import { type HeldPicture, holdPicture } from '../pictures/held-picture.ts';
import type { PictureOptions, Size } from '../pictures/picture-options.ts';
import type { Picture } from '../pictures/pixels.ts';
import { prepareFor } from '../pictures/prepare-on-device.ts';
import { type Box, clipped } from '../results/boxes.ts';
import { numbersOf, outputOf } from '../results/numbers.ts';
import type { CallOptions } from '../task-options.ts';
import {
  alongText,
  placedIn,
  sideways,
  turnedAround,
  turnedWhole,
  upsideDown,
  wholeOf,
} from './along-text.ts';
import { cornersOf, joinedRectangle, textRegions } from './text-regions.ts';
import type { PageText, ReadOptions, TextLine } from './page-text.ts';
import { readingOrder } from './reading-order.ts';

/** The model sees blue first, and means are those of its colours in that order. */
const DETECTION: PictureOptions = {
  mean: [0.406, 0.456, 0.485],
  std: [0.225, 0.224, 0.229],
  channels: 'bgr',
};
const RECOGNITION: PictureOptions = {
  mean: 0.5,
  std: 0.5,
  channels: 'bgr',
  resampling: 'bicubic',
};
/** Lines that go through the model at once. */
const BATCH = 6;
/** Widths are rounded up to multiples of this, so that few sizes have to be planned. */
const WIDTH_STEP = 64;
const LEAST_WIDTH = 320;
const LINE_HEIGHT = 48;
/** The orientation model sees so much of a line. */
const ORIENTATION_WIDTH = 192;
/** The shorter side of the picture for detection, where the longer one allows it. */
const LEAST_EDGE = 736;
/** Sides of the picture for detection are multiples of this. */
const SIDE = 32;
/** Pieces of a row that are nearer to each other than this share of their height are one line: a blank had cut it. */
const BLANK = 0.8;

/** Models that read text, and what they say. */
interface PageReaderParts {
  readonly detection: Session;
  readonly recognition: Session;
  readonly orientation: Session | undefined;
  /** The characters, without the blank. */
  readonly dictionary: readonly string[];
  readonly longestEdge: number;
}

interface FoundLine {
  readonly rectangle: Rectangle;
  readonly picture: Rgb;
}

/**
 * The characters of all classes: the blank before them, and a space behind them where the model has one. Throws UsageError for a dictionary
 * that has another number of characters.
 */
export function classesOf(
  characters: readonly string[],
  count: number | string | undefined,
): readonly string[] {
  if (typeof count !== 'number' || count === characters.length + 2) return ['', ...characters, ' '];
  if (count === characters.length + 1) return ['', ...characters];
  throw new UsageError({
    where: 'dictionary',
    got: `${characters.length} characters`,
    expected: `${count - 2} or ${count - 1}, for a model with ${count} classes, one of them blank`,
    remedy: 'Use the dictionary that belongs to the recognition model.',
  });
}

/** Reads pages: finds lines, turns them, reads them and puts them in order. */
export class PageReader {
  readonly #parts: PageReaderParts;

  constructor(parts: PageReaderParts) {
    this.#parts = parts;
  }

  async read(picture: Picture, options: ReadOptions): Promise<PageText> {
    const { signal, leastScore = 0.5 } = options;
    signal?.throwIfAborted();
    const held = await holdPicture(this.#parts.detection, picture, { signal });
    let lines: readonly FoundLine[];
    try {
      const found = await this.#detect(held, options);
      lines = await this.#turned(await cutLines(held, found, signal), held, signal);
    } finally {
      held.drop();
    }
    const texts = await this.#recognise(lines, signal);
    const pieces = lines.flatMap(({ rectangle }, i) => {
      const { text: read = '', score = 0 } = texts[i] ?? {};
      const text = narrow(read);
      const isRead = text.trim() !== '' && score >= leastScore;
      return isRead ? [{ text, score, rectangle }] : [];
    });
    const rows = readingOrder(pieces, BLANK).map((row) => row.map((parts) => lineOf(parts, held)));
    return {
      text: rows.map((row) => row.map(({ text }) => text).join(' ')).join('\n'),
      lines: rows.flatMap((own, row) => own.map((line) => ({ ...line, row }))),
    };
  }

  /**
   * Where lines are, in pixels of the picture, each in the direction of its text. The model was trained on pages that lie upright: one on its
   * side is turned for it and looked at again.
   */
  async #detect(held: HeldPicture, options: ReadOptions): Promise<Rectangle[]> {
    const asItIs = await this.#detectIn(wholeOf(held), held, options);
    const isOnSide = sideways(asItIs) > 0;
    const found = isOnSide ? await this.#detectIn(turnedWhole(held), held, options) : asItIs;
    return withoutOverlaps(found);
  }

  /** Lines of the picture in a rectangle, which is all of it in some direction. */
  async #detectIn(whole: Rectangle, held: HeldPicture, options: ReadOptions): Promise<Rectangle[]> {
    const { threshold = 0.3, boxThreshold = 0.6, unclip = 1.6, signal } = options;
    const size = detectionSize(whole, this.#parts.longestEdge);
    const part = whole.along[0] === 1 ? undefined : whole;
    const { tensor } = await held.prepare({ ...DETECTION, size }, { part, signal });
    const map = await runOn(this.#parts.detection, tensor, signal);
    const [height = 0, width = 0] = map.shape.slice(-2);
    const data = numbersOf(map);
    if (data.length !== width * height || width === 0) {
      throw new ShapeError({
        where: 'detection model',
        got: `[${map.shape.join(', ')}]`,
        expected: '[1, 1, H, W]',
      });
    }
    const [across, down] = [whole.width / width, whole.height / height];
    return textRegions({ width, height, data }, { threshold, boxThreshold, unclip })
      .map(({ rectangle }) => scaled(rectangle, across, down))
      .filter((rectangle) => Math.min(rectangle.width, rectangle.height) > 3)
      .map((rectangle) => placedIn(whole, alongText(rectangle)));
  }

  /** Lines that are upside down are cut the other way round. What is too short to tell goes with the others of its direction. */
  async #turned(
    lines: readonly FoundLine[],
    held: HeldPicture,
    signal: AbortSignal | undefined,
  ): Promise<readonly FoundLine[]> {
    const { orientation } = this.#parts;
    if (orientation === undefined) return lines;
    const likelihoods: number[] = [];
    for (const { picture } of lines) {
      const tensor = await linesTensor(orientation, [picture], {
        width: ORIENTATION_WIDTH,
        signal,
      });
      const [, over = 0] = numbersOf(await runOn(orientation, tensor, signal));
      likelihoods.push(over);
    }
    const isOver = upsideDown(lines, likelihoods);
    const turned = lines
      .filter((_, i) => isOver[i])
      .map(({ rectangle }) => turnedAround(rectangle));
    const again = (await cutLines(held, turned, signal)).values();
    return lines.map((line, i) => (isOver[i] ? (again.next().value ?? line) : line));
  }

  /** Recognises the text of each line, and how sure the model is of it. */
  async #recognise(lines: readonly FoundLine[], signal: AbortSignal | undefined) {
    const widths = lines.map(({ picture }) => lineWidth(picture));
    const order = lines.map((_, i) => i).toSorted((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0));
    const texts: { text: string; score: number }[] = [];
    for (let at = 0; at < order.length; at += BATCH) {
      const batch = order.slice(at, at + BATCH);
      const widest = widths[batch.at(-1) ?? 0] ?? 0;
      const width = Math.max(Math.ceil(widest / WIDTH_STEP) * WIDTH_STEP, LEAST_WIDTH);
      const pictures = batch.flatMap((i) => lines[i]?.picture ?? []);
      const { recognition } = this.#parts;
      const tensor = await linesTensor(recognition, pictures, { width, signal, isLast: true });
      const out = await runOn(recognition, tensor, signal);
      const numbers = numbersOf(out);
      const each = numbers.length / batch.length;
      const characters = classesOf(this.#parts.dictionary, out.shape.at(-1));
      for (const [k, i] of batch.entries()) {
        texts[i] = readSteps(numbers.subarray(k * each, (k + 1) * each), characters);
      }
    }
    return texts;
  }
}

/** Characters of the width of Chinese ones in a line without such are those of ASCII: the model mixes their commas up. */
function narrow(text: string): string {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text)
    ? text
    : text.replaceAll(/[\uff01-\uff5e]/g, (wide) =>
        String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
      );
}

/** Cuts lines out of a picture, by their rectangles. */
async function cutLines(
  held: HeldPicture,
  rectangles: readonly Rectangle[],
  signal: AbortSignal | undefined,
): Promise<FoundLine[]> {
  const pictures = await held.cut(rectangles, { signal });
  return pictures.flatMap((picture, i) => {
    const rectangle = rectangles[i];
    return rectangle === undefined ? [] : [{ rectangle, picture }];
  });
}

async function runOn(
  session: Session,
  tensor: Tensor | DeviceTensor,
  signal: AbortSignal | undefined,
): Promise<Tensor> {
  const { name = 'x' } = session.inputs[0] ?? {};
  try {
    return outputOf(await session.run({ [name]: tensor }, { signal, transfer: true }), []);
  } finally {
    if (!(tensor instanceof Tensor)) tensor.dispose();
  }
}

/** The size of the picture, larger for small ones, but not larger than asked for. */
function detectionSize({ width, height }: Size, longestEdge: number): Size {
  const larger = Math.max(LEAST_EDGE / Math.min(width, height), 1);
  const factor = Math.min(longestEdge / Math.max(width, height), larger);
  const whole = (side: number): number => Math.max(Math.round((side * factor) / SIDE), 1) * SIDE;
  return { width: whole(width), height: whole(height) };
}

/** A rectangle of the map in the picture; the two sides differ by less than a pixel in their factors. */
function scaled(
  { center: [x, y], along: [dx, dy], width, height }: Rectangle,
  across: number,
  down: number,
): Rectangle {
  const length = Math.hypot(dx * across, dy * down);
  return {
    // Pixels are squares: the middle of the first one is at a half.
    center: [(x + 0.5) * across - 0.5, (y + 0.5) * down - 0.5],
    along: [(dx * across) / length, (dy * down) / length],
    width: width * length,
    height: height * Math.hypot(dy * across, dx * down),
  };
}

/** Pieces of a line that overlap as one: what both have would be read twice. */
function withoutOverlaps(rectangles: readonly Rectangle[]): Rectangle[] {
  const pieces = rectangles.map((rectangle) => ({ rectangle }));
  return readingOrder(pieces, 0).flatMap((row) =>
    row.map((parts) => joinedRectangle(parts.map(({ rectangle }) => rectangle))),
  );
}

/** Text that was found, and where. */
interface ReadPiece {
  readonly text: string;
  readonly score: number;
  readonly rectangle: Rectangle;
}

/** Pieces that are one line, as one. */
function lineOf(parts: readonly ReadPiece[], size: Size): Omit<TextLine, 'row'> {
  const corners = cornersOf(joinedRectangle(parts.map(({ rectangle }) => rectangle)));
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const score = parts.reduce((sum, part) => sum + part.score * part.text.length, 0) / length;
  const text = parts.map((part) => part.text).join(' ');
  return { text, score, corners, box: clipped(boxAround(corners), size) };
}

function boxAround(corners: readonly Point[]): Box {
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return { left, top, width: Math.max(...xs) - left, height: Math.max(...ys) - top };
}

function lineWidth({ width, height }: Size): number {
  return Math.max(Math.ceil((LINE_HEIGHT * width) / height), 1);
}

interface LinesOptions extends CallOptions {
  readonly width: number;
  /** The pixels of the lines are not needed any more. */
  readonly isLast?: boolean | undefined;
}

/** Lines as a model takes them, each with zeros to the right up to a width. */
async function linesTensor(
  session: Session,
  lines: readonly Rgb[],
  { width, ...call }: LinesOptions,
): Promise<Tensor | DeviceTensor> {
  const pad = { width, height: LINE_HEIGHT };
  const options = lines.map((line): PictureOptions => {
    const size = { width: Math.min(lineWidth(line), width), height: LINE_HEIGHT };
    return { ...RECOGNITION, size, pad };
  });
  return (await prepareFor(session, lines, { options, ...call })).tensor;
}

/** Text that was read, and how sure the model is of its characters on average. */
interface ReadText {
  readonly text: string;
  readonly score: number;
}

/**
 * The likeliest character of each step, where the same one in a row counts once and class 0 is a blank between two (Graves et al.
 * 2006). `scores` are (steps, classes), `characters` those of the classes.
 */
export function readSteps(
  scores: Float32Array | Float64Array,
  characters: readonly string[],
): ReadText {
  const classes = characters.length;
  let text = '';
  let sum = 0;
  let count = 0;
  let before = 0;
  for (let at = 0; at < scores.length; at += classes) {
    let best = 0;
    let most = scores[at] ?? 0;
    for (let c = 1; c < classes; c++) {
      const score = scores[at + c] ?? 0;
      if (score > most) [best, most] = [c, score];
    }
    if (best !== 0 && best !== before) {
      text += characters[best] ?? '';
      sum += most;
      count++;
    }
    before = best;
  }
  return { text, score: count === 0 ? 0 : sum / count };
}
