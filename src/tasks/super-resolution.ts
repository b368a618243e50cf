import { checkOptions, type OptionKind } from '../core/check-options.ts';
import type { Session } from '../client/session.ts';
import { Tensor } from '../client/values/tensor.ts';
import { internalError, ShapeError } from '../core/errors.ts';
import type { Pixels } from '../core/pictures/pixels.ts';
import { type HeldPicture, holdPicture } from './pictures/held-picture.ts';
import { type PictureInput, pictureInputOf } from './pictures/model-pictures.ts';
import type { PictureOptions, Size } from './pictures/picture-options.ts';
import { drawTensor, showBitmap } from './pictures/draw-tensor.ts';
import { runOnDevice } from './picture-task.ts';
import type { Picture } from './pictures/pixels.ts';
import { rectangleOf, type Tile, tilesOf } from './pictures/tiles.ts';
import { numbersOf, outputOf } from './results/numbers.ts';
import { Task } from './task.ts';
import { loadTask, type TaskSource } from './task-model.ts';
import { type CallOptions, TASK_OPTIONS, type TaskOptions } from './task-options.ts';

/** How a model that enlarges pictures is loaded. */
export interface SuperResolutionOptions extends TaskOptions {
  /** How pictures are prepared; takes precedence over the model's files. */
  readonly pictures?: PictureOptions | undefined;
  /**
   * Pixels of the picture around each tile that the model sees beside it, where it takes pictures of one size only: as far as it
   * looks. Default 16.
   */
  readonly margin?: number | undefined;
}

/** A picture in RGBA, for `new ImageData(data, width, height)`. */
interface EnlargedPicture extends Pixels {
  /** Red, green, blue and 255 of each pixel. */
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/**
 * Loads a model that enlarges pictures: (1, C, H, W) or (1, H, W, C) in, the same with a multiple of H and W out, of three channels or
 * of luma alone. Rejects as `Session.load` does, and with ShapeError for a model that takes no pictures.
 */
export async function superResolution(
  source: TaskSource,
  options: SuperResolutionOptions = {},
): Promise<SuperResolution> {
  checkOptions<SuperResolutionOptions>('superResolution', options, {
    pictures: 'object',
    margin: PIXELS,
    ...TASK_OPTIONS,
  });
  const { pictures, margin = MARGIN, ...place } = options;
  return loadTask(async (load) => {
    const model = await load(source, place);
    const input = pictureInputOf(model.session, model.preprocessor, pictures);
    return new SuperResolution(model.session, { input, margin });
  });
}

const MARGIN = 16;
const PIXELS: OptionKind = [
  'pixels from 0 up',
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
];

interface EnlargerParts {
  readonly input: PictureInput;
  readonly margin: number;
}

/** Enlarges pictures. */
export class SuperResolution extends Task {
  /** How pictures are prepared for the model: by the options, its input and its files. */
  readonly pictures: PictureOptions;
  readonly #parts: EnlargerParts;

  /** @internal */
  constructor(session: Session, parts: EnlargerParts) {
    super([session]);
    this.pictures = parts.input.options;
    this.#parts = parts;
  }

  /**
   * The picture, as many times as large as the model makes it. A model for pictures of one size gets it in tiles. Rejects with
   * UsageError for a picture without pixels, with ShapeError for a model whose result is no larger picture.
   */
  async enlarge(picture: Picture, options: CallOptions = {}): Promise<EnlargedPicture> {
    checkOptions<CallOptions>('enlarge', options, { signal: 'signal' });
    const { signal } = options;
    const held = await holdPicture(this.session, picture, { signal });
    try {
      const wanted = fixedSize(this.pictures.size) ?? held;
      let canvas: Canvas | undefined;
      for (const tile of tilesOf(held, wanted, this.#parts.margin)) {
        const result = await this.#run(tile, held, signal);
        canvas ??= await this.#canvasFor(held, factorOf(result, tile, this.pictures), signal);
        canvas.draw(tile, result);
      }
      if (canvas === undefined) throw internalError('a picture without tiles');
      return canvas.picture;
    } finally {
      held.drop();
    }
  }

  async #run(tile: Tile, held: HeldPicture, signal: AbortSignal | undefined): Promise<Tensor> {
    const { size: _, ...prepared } = this.pictures;
    const isWhole = tile.size.width === held.width && tile.size.height === held.height;
    const part = isWhole ? undefined : rectangleOf(tile);
    const { tensor } = await held.prepare(prepared, { part, signal });
    try {
      const inputs = { [this.#parts.input.name]: tensor };
      return outputOf(await this.session.run(inputs, { signal, transfer: true }), []);
    } finally {
      if (!(tensor instanceof Tensor)) tensor.dispose();
    }
  }

  /** The canvas to draw the result on; for a model of luma it has the colours of the picture. */
  async #canvasFor(
    held: HeldPicture,
    factor: number,
    signal: AbortSignal | undefined,
  ): Promise<Canvas> {
    const size = { width: held.width * factor, height: held.height * factor };
    if (this.pictures.channels !== 'grey') return new Canvas(size, factor, this.pictures);
    const { tensor } = await held.prepare(
      { size, resampling: 'bicubic', dtype: 'uint8', layout: 'nhwc' },
      { signal },
    );
    try {
      const { data } =
        tensor instanceof Tensor ? tensor : await tensor.read({ ...(signal && { signal }) });
      return new Canvas(size, factor, { ...this.pictures, colours: data as Uint8Array });
    } finally {
      if (!(tensor instanceof Tensor)) tensor.dispose();
    }
  }

  /**
   * As {@link enlarge}, onto a canvas, which gets the size of the result: of bitmaps, unless it was drawn on in two dimensions already.
   * On WebGPU nothing is read back, unless the model takes tiles, or luma alone. Rejects as `enlarge` does.
   */
  async draw(
    picture: Picture,
    canvas: HTMLCanvasElement | OffscreenCanvas,
    options: CallOptions = {},
  ): Promise<void> {
    checkOptions<CallOptions>('draw', options, { signal: 'signal' });
    const { size, ...prepared } = this.pictures;
    if (fixedSize(size) !== undefined || prepared.channels === 'grey') {
      const { width, height, data } = await this.enlarge(picture, options);
      return showBitmap(await createImageBitmap(new ImageData(data, width, height)), canvas);
    }
    const whole = { name: this.#parts.input.name, options: prepared };
    const { outputs, place } = await runOnDevice(this.session, whole, { picture, ...options });
    try {
      const result = outputOf(outputs, []);
      factorOf(result, { size: place.source }, this.pictures);
      const { layout, channels, scale, mean, std, dtype } = this.pictures;
      const drawn = { layout, channels, scale: scale ?? defaultScale(dtype), mean, std };
      await drawTensor(result, canvas, { ...drawn, ...options });
    } finally {
      for (const output of Object.values(outputs)) output.dispose();
    }
  }
}

/**
 * The default of {@link PictureOptions.scale}, by which preparing multiplies levels of 0 to 255.
 */
const defaultScale = (dtype: PictureOptions['dtype']): number => (dtype === 'uint8' ? 1 : 1 / 255);

function fixedSize(size: PictureOptions['size']): Size | undefined {
  return typeof size === 'object' && 'width' in size ? size : undefined;
}

/** How many times as large a result is. Throws ShapeError unless it is a picture of the model's channels. */
function factorOf(
  { shape }: Pick<Tensor, 'shape'>,
  { size }: Pick<Tile, 'size'>,
  { layout = 'nchw', channels }: PictureOptions,
): number {
  const [batch, ...rest] = shape;
  const [height = 0, width = 0, count] = layout === 'nhwc' ? rest : [rest[1], rest[2], rest[0]];
  const factor = width / size.width;
  const isGood =
    shape.length === 4 &&
    batch === 1 &&
    count === (channels === 'grey' ? 1 : 3) &&
    Number.isSafeInteger(factor) &&
    factor > 0 &&
    height === factor * size.height;
  if (isGood) return factor;
  throw new ShapeError({
    where: 'the result of the model',
    got: `[${shape.join(', ')}] for a picture of ${size.width} x ${size.height}`,
    expected: `one picture of ${channels === 'grey' ? 1 : 3} channels, a whole number of times as large`,
  });
}

interface CanvasOptions extends PictureOptions {
  readonly colours?: Uint8Array | undefined;
}

/** The enlarged picture, as far as it is drawn. */
class Canvas {
  readonly picture: EnlargedPicture;
  readonly #factor: number;
  readonly #options: PictureOptions;
  /** The enlarged colours in RGB, for models of luma. */
  readonly #colours: Uint8Array | undefined;

  constructor({ width, height }: Size, factor: number, options: CanvasOptions) {
    const data = new Uint8ClampedArray(width * height * 4).fill(255);
    this.picture = { width, height, data };
    this.#factor = factor;
    this.#options = options;
    this.#colours = options.colours;
  }

  /** Puts the part of a result there that is not the tile's margin. */
  draw({ left, top, size, kept }: Tile, result: Tensor): void {
    const factor = this.#factor;
    const { width, data } = this.picture;
    const { layout = 'nchw', channels = 'rgb' } = this.#options;
    const numbers = numbersOf(result);
    const count = channels === 'grey' ? 1 : 3;
    const [wide, high] = [size.width * factor, size.height * factor];
    const levels = [0, 1, 2].map((channel) => levelOf(this.#options, channel));
    const at = (x: number, y: number, channel: number): number => {
      const place = y * wide + x;
      const index = layout === 'nhwc' ? place * count + channel : channel * wide * high + place;
      return numbers[index] ?? 0;
    };
    for (let y = kept.top * factor; y < kept.bottom * factor; y++) {
      for (let x = kept.left * factor; x < kept.right * factor; x++) {
        const own = (y - top * factor) * wide + (x - left * factor);
        const [ownX, ownY] = [own % wide, Math.floor(own / wide)];
        const to = (y * width + x) * 4;
        if (count === 1) {
          this.#paintLuma(y * width + x, levels[0]?.(at(ownX, ownY, 0)) ?? 0);
          continue;
        }
        for (let colour = 0; colour < 3; colour++) {
          const channel = channels === 'bgr' ? 2 - colour : colour;
          data[to + colour] = levels[colour]?.(at(ownX, ownY, channel)) ?? 0;
        }
      }
    }
  }

  /** The colour of a pixel with another luma: red, green and blue are moved alike, which leaves both colour differences. */
  #paintLuma(pixel: number, luma: number): void {
    const { data } = this.picture;
    const colours = this.#colours ?? [];
    const [red = 0, green = 0, blue = 0] = [0, 1, 2].map((c) => colours[pixel * 3 + c]);
    const difference = luma - (red * 0.299 + green * 0.587 + blue * 0.114);
    for (const [c, own] of [red, green, blue].entries()) data[pixel * 4 + c] = own + difference;
  }
}

/** From an element of a colour to its level from 0 to 255: what preparing did, backwards. */
function levelOf(options: PictureOptions, colour: number): (element: number) => number {
  const { dtype = 'float32', mean = 0, std = 1 } = options;
  const { scale = defaultScale(dtype) } = options;
  const of = (value: number | readonly number[]): number =>
    typeof value === 'number' ? value : (value[colour] ?? 0);
  const [shift, factor] = [of(mean), of(std)];
  return (element) => (element * factor + shift) / scale;
}
