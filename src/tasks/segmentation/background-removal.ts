import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import type { Tensor } from '../../client/values/tensor.ts';
import { elementCount } from '../../core/tensor/element-count.ts';
import { ShapeError, UsageError } from '../../core/errors.ts';
import { isGpuTexture } from '../../core/contracts/gpu-like.ts';
import {
  contextOf,
  DRAW_OPTIONS,
  type DrawOptions,
  tensorToBitmap,
} from '../pictures/draw-tensor.ts';
import { type HeldPicture, holdPicture } from '../pictures/held-picture.ts';
import { type PictureInput, pictureInputOf } from '../pictures/model-pictures.ts';
import type { PictureOptions, Size } from '../pictures/picture-options.ts';
import { fetched, type Picture, readRgb } from '../pictures/pixels.ts';
import { runForFirst, runOnDevice } from '../picture-task.ts';
import { numbersOf, outputOf } from '../results/numbers.ts';
import { Task } from '../task.ts';
import { loadTask, type TaskSource } from '../task-model.ts';
import { type CallOptions, SHARE, TASK_OPTIONS, type TaskOptions } from '../task-options.ts';
import type { Mask } from './segmentation.ts';
import { partOf, type Rectangle, wholePictures } from './whole-pictures.ts';
import type { Pixels, Rgb } from '../../core/pictures/pixels.ts';

/** How a model that tells foreground from background is loaded. */
export interface BackgroundRemovalOptions extends TaskOptions {
  /** How pictures are prepared; takes precedence over the model's files. */
  readonly pictures?: PictureOptions | undefined;
}

/** How the background of one picture is removed. */
interface MaskOptions extends CallOptions {
  /** Makes the mask hard: 255 from this share on, from 0 to 1, and 0 below. Default: edges are soft. */
  readonly threshold?: number | undefined;
}

/**
 * Loads a model that gives one mask, of the foreground: IS-Net, U2-Net, BiRefNet, or mattes such as those of MODNet. A picture in,
 * (1, 1, H, W) out, from 0 to 1 or before a sigmoid; of several results the first. Rejects as `Session.load` does, and with
 * ShapeError for a model that takes no pictures.
 */
export async function backgroundRemoval(
  source: TaskSource,
  options: BackgroundRemovalOptions = {},
): Promise<BackgroundRemoval> {
  checkOptions<BackgroundRemovalOptions>('backgroundRemoval', options, {
    pictures: 'object',
    ...TASK_OPTIONS,
  });
  const { pictures, ...place } = options;
  return loadTask(async (load) => {
    const { session, preprocessor } = await load(source, place);
    return new BackgroundRemoval(session, pictureInputOf(session, preprocessor, pictures));
  });
}

/** Tells the foreground of a picture from its background. */
export class BackgroundRemoval extends Task {
  /** How pictures are prepared for the model: by the options, its input and its files. */
  readonly pictures: PictureOptions;
  readonly #input: PictureInput;

  /** @internal */
  constructor(session: Session, input: PictureInput) {
    super([session]);
    this.#input = wholePictures(input);
    this.pictures = this.#input.options;
  }

  /**
   * How much of each pixel is foreground, in the picture's own size. Rejects with UsageError for a picture without pixels, with
   * ShapeError for a model of another number of masks.
   */
  async mask(picture: Picture, options: MaskOptions = {}): Promise<Mask> {
    checkOptions<MaskOptions>('mask', options, MASK_OPTIONS);
    return this.#mask(picture, options);
  }

  async #mask(picture: Picture | HeldPicture, { threshold, signal }: MaskOptions): Promise<Mask> {
    const { output, place } = await runForFirst(this.session, this.#input, { picture, signal });
    const mask = maskOf(output);
    const { width, height } = place.source;
    const part = cut(mask, partOf(place, mask));
    const { resize } = await import('../pictures/resize.ts');
    const { data } = resize(part, width, height, 'bilinear');
    const least = threshold === undefined ? undefined : threshold * 255;
    if (least !== undefined) data.set(data.map((level) => (level >= least ? 255 : 0)));
    return { width, height, data };
  }

  /** The picture without its background, which becomes transparent. Rejects as {@link mask} does. */
  async apply(picture: Picture, options: MaskOptions = {}): Promise<MaskedPicture> {
    checkOptions<MaskOptions>('apply', options, MASK_OPTIONS);
    const held = await holdPicture(this.session, picture, options);
    try {
      const mask = await this.#mask(held, options);
      return masked(await held.read(options), mask);
    } finally {
      held.drop();
    }
  }

  /**
   * As {@link apply}, onto a canvas of two dimensions, which gets the size of the picture. On WebGPU the mask is not read back: the
   * canvas makes it as large as the picture, so that edges may differ by some levels. Of a model whose numbers are logits the option
   * `activation` has to be `sigmoid`, because nobody looks at them. Rejects as `apply` does.
   */
  async draw(
    picture: Picture,
    canvas: HTMLCanvasElement | OffscreenCanvas,
    options: Pick<DrawOptions, 'activation' | 'signal'> = {},
  ): Promise<void> {
    checkOptions('draw', options, DRAW_MASK_OPTIONS);
    const { activation, signal } = options;
    const { outputs, place } = await runOnDevice(this.session, this.#input, { picture, signal });
    try {
      const mask = outputOf(outputs, []);
      const { left, top, width, height } = partOf(place, sizeOf(mask));
      const layout = mask.shape[1] === 1 ? 'nchw' : 'nhwc';
      const channels = 'opacity';
      const scale = 1 / 255;
      const drawn = await tensorToBitmap(mask, { layout, channels, scale, activation, signal });
      const { source } = place;
      [canvas.width, canvas.height] = [source.width, source.height];
      const context = contextOf(canvas);
      context.drawImage(
        await this.#drawable(picture, { signal }),
        0,
        0,
        source.width,
        source.height,
      );
      context.globalCompositeOperation = 'destination-in';
      context.drawImage(drawn, left, top, width, height, 0, 0, source.width, source.height);
      context.globalCompositeOperation = 'source-over';
      drawn.close();
    } finally {
      for (const output of Object.values(outputs)) output.dispose();
    }
  }

  /** The picture as canvases can draw it; textures and pixels are converted. */
  async #drawable(given: Picture, call: CallOptions): Promise<CanvasImageSource> {
    const picture = await fetched(given);
    if (picture instanceof Blob) return createImageBitmap(picture);
    if (!('data' in picture) && !isGpuTexture(picture)) return picture;
    const held = await holdPicture(this.session, picture, call);
    try {
      const { width, height } = held;
      const opaque = new Uint8Array(width * height).fill(255);
      const { data } = masked(await held.read(call), { width, height, data: opaque });
      return await createImageBitmap(new ImageData(data, width, height));
    } finally {
      held.drop();
    }
  }
}

const MASK_OPTIONS: OptionKinds<MaskOptions> = { threshold: SHARE, signal: 'signal' };
const DRAW_MASK_OPTIONS = { activation: DRAW_OPTIONS.activation, signal: DRAW_OPTIONS.signal };

/** Shares that are hardly beyond 0 and 1 are shares all the same. */
const MARGIN = 1e-5;

/**
 * The levels of a result from 0 to 255, rounded down: as the pipelines of @huggingface/transformers have them. Throws ShapeError for a
 * result of other dimensions.
 */
function maskOf(output: Tensor): Mask {
  const { height, width } = sizeOf(output);
  const numbers = numbersOf(output);
  const isShare = numbers.every((value) => value >= -MARGIN && value <= 1 + MARGIN);
  const data = new Uint8Array(width * height);
  for (const [i, value] of numbers.entries()) {
    const share = isShare ? value : Math.fround(1 / (1 + Math.exp(-value)));
    data[i] = Math.min(Math.max(Math.fround(share * 255), 0), 255);
  }
  return { width, height, data };
}

/** The size of a mask of [1, 1, H, W], [1, H, W, 1] or [1, H, W]. */
function sizeOf({ dtype, shape }: Pick<Tensor, 'dtype' | 'shape'>): Size {
  const isFirst = shape.length === 3 || shape[1] === 1;
  const [batch, height = 0, width = 0] = isFirst ? [shape[0], ...shape.slice(-2)] : shape;
  const isMask = (shape.length === 3 || shape.length === 4) && batch === 1;
  if (isMask && width * height === elementCount(shape)) return { width, height };
  throw new ShapeError({
    where: 'the result of the model',
    got: `${dtype} [${shape.join(', ')}]`,
    expected: 'one mask [1, 1, rows, columns]',
    remedy: 'imageSegmenter takes models of several classes.',
  });
}

function cut({ width, data }: Mask, part: Rectangle): Mask {
  if (part.width * part.height === data.length) return { width, height: part.height, data };
  const out = new Uint8Array(part.width * part.height);
  for (let y = 0; y < part.height; y++) {
    const from = (part.top + y) * width + part.left;
    out.set(data.subarray(from, from + part.width), y * part.width);
  }
  return { width: part.width, height: part.height, data: out };
}

/** A picture in RGBA with transparency, for `new ImageData(data, width, height)`. */
export interface MaskedPicture extends Pixels {
  /** Red, green, blue and alpha of each pixel; colours are not premultiplied. */
  readonly data: Uint8ClampedArray<ArrayBuffer>;
}

/**
 * The picture with a mask for its transparency. Rejects with UsageError for a mask of another size, and for what is no picture.
 */
export async function applyMask(picture: Picture, mask: Mask): Promise<MaskedPicture> {
  return masked(await readRgb(picture), mask);
}

/** The pixels with a mask for their transparency. Throws UsageError for a mask of another size. */
function masked({ width, height, data: colours }: Rgb, mask: Mask): MaskedPicture {
  if (mask.width !== width || mask.height !== height || mask.data.length !== width * height) {
    throw new UsageError({
      where: 'applyMask',
      got: `a mask of ${mask.width} x ${mask.height} in ${mask.data.length} bytes`,
      expected: `${width} x ${height}, the size of the picture, in one byte a pixel`,
    });
  }
  const data = new Uint8ClampedArray(width * height * 4);
  for (const [pixel, alpha] of mask.data.entries()) {
    for (let c = 0; c < 3; c++) data[pixel * 4 + c] = colours[pixel * 3 + c] ?? 0;
    data[pixel * 4 + 3] = alpha;
  }
  return { width, height, data };
}
