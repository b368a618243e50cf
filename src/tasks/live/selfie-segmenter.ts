import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import type { Session } from '../../client/session.ts';
import { isPixels, type Pixels, toRgb } from '../../core/pictures/pixels.ts';
import { contextOf, tensorToBitmap } from '../pictures/draw-tensor.ts';
import type { Picture } from '../pictures/pixels.ts';
import type { Mask } from '../segmentation/segmentation.ts';
import type { TaskSource } from '../task-model.ts';
import { type CallOptions, MODELS_OPTIONS } from '../task-options.ts';
import { wholeRegion } from './regions/geometry.ts';
import { type LiveModelOptions, loadOne } from './live-models.ts';
import { type LiveResult, LiveTask } from './live-task.ts';
import { otherOutputs, RegionModel } from './regions/region-model.ts';
import { pictureMask } from './regions/region-mask.ts';
import { stillOf } from './still-picture.ts';

/** How people are told from what is behind them. */
export interface SelfieSegmenterOptions extends LiveModelOptions {
  /** Takes the model of a folder for pictures that are wider than high, which is faster. Default false. */
  readonly landscape?: boolean | undefined;
}

/** The people in a frame. */
export interface SelfieResult extends LiveResult {
  /** Makes a mask of the picture's size: 255 for pixels of people, 0 for what is behind them. */
  readonly mask: () => Mask;
}

/** How a picture is drawn. */
interface DrawSelfieOptions extends CallOptions {
  /** A colour of CSS, or a picture that covers the canvas. Default: it stays transparent. */
  readonly background?: string | CanvasImageSource | undefined;
}

const DRAW_KINDS: OptionKinds<DrawSelfieOptions> = {
  background: ['a colour or a picture', (value) => /^(string|object)$/.test(typeof value)],
  signal: 'signal',
};

/**
 * Loads a model that tells people from what is behind them: of a folder with MediaPipe's `selfie_segmentation` or
 * `selfie_segmentation_landscape`, as `.weft` or `.tflite`, or the address of such a file. Rejects as `Session.load` does, and with
 * ShapeError for a model that does not give one mask.
 */
export async function selfieSegmenter(
  source: TaskSource,
  options: SelfieSegmenterOptions = {},
): Promise<SelfieSegmenter> {
  checkOptions<SelfieSegmenterOptions>('selfieSegmenter', options, {
    landscape: 'boolean',
    ...MODELS_OPTIONS,
  });
  const { landscape = false, ...place } = options;
  const files = ['selfie_segmentation', 'selfie_segmenter', 'selfie_segmentation_landscape'];
  const names = landscape ? files.toReversed() : files;
  return loadOne(source, { ...place, names }, (session) => new SelfieSegmenter(session));
}

/** Tells people from what is behind them, in pictures and videos. */
export class SelfieSegmenter extends LiveTask<SelfieResult> {
  readonly #model: RegionModel;

  /** @internal */
  constructor(session: Session) {
    const model = new RegionModel(session, { range: [0, 1], isBlackOutside: true });
    const { width, height } = model.input.size;
    if (model.counts.length !== 1 || model.counts[0] !== width * height) {
      throw otherOutputs(session, `one mask [1, ${height}, ${width}, 1]`);
    }
    super([session], () => async (picture, { timeMs, signal }) => {
      const { results, size } = await model.run(picture, (all) => [wholeRegion(all)], { signal });
      const region = wholeRegion(size);
      const shares = results[0]?.outputs[0] ?? [];
      const mask = (): Mask => pictureMask({ shares, region, width, height }, size);
      return { mask, ...size, timestamp: timeMs };
    });
    this.#model = model;
  }

  /**
   * Draws a picture onto a canvas of two dimensions, which gets its size, with another background. On WebGPU the mask is not read back.
   * Rejects with UsageError for a picture without pixels, and with UnsupportedError where there are no canvases.
   */
  async draw(
    picture: Picture,
    canvas: HTMLCanvasElement | OffscreenCanvas,
    options: DrawSelfieOptions = {},
  ): Promise<void> {
    checkOptions('draw', options, DRAW_KINDS);
    const { background, signal } = options;
    const still = await stillOf(isPixels(picture) ? imageOf(picture) : picture);
    try {
      const mask = await this.#maskOf(still.picture, { signal });
      const shown = still.picture as ImageBitmap;
      const { width, height } = shown;
      [canvas.width, canvas.height] = [width, height];
      const context = contextOf(canvas);
      context.drawImage(mask, 0, 0, width, height);
      mask.close();
      context.globalCompositeOperation = 'source-in';
      context.drawImage(shown, 0, 0, width, height);
      context.globalCompositeOperation = 'destination-over';
      if (typeof background === 'string') {
        context.fillStyle = background;
        context.fillRect(0, 0, width, height);
      } else if (background !== undefined) {
        context.drawImage(background, 0, 0, width, height);
      }
      context.globalCompositeOperation = 'source-over';
    } finally {
      still.free();
    }
  }

  async #maskOf(picture: Picture, call: CallOptions): Promise<ImageBitmap> {
    const { outputs } = await this.#model.runOnDevice(picture, wholeRegion, call);
    try {
      const [mask] = outputs;
      if (mask === undefined) throw otherOutputs(this.session, 'one mask');
      const layout = this.#model.input.isLast ? 'nhwc' : 'nchw';
      return await tensorToBitmap(mask, { layout, channels: 'opacity', scale: 1 / 255, ...call });
    } finally {
      for (const output of outputs) output.dispose();
    }
  }
}

/** Pixels as a picture that canvases draw. */
function imageOf(pixels: Pixels): ImageData {
  const { width, height, data } = toRgb(pixels, 'picture');
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    image.data.set(data.subarray(i * 3, i * 3 + 3), i * 4);
    image.data[i * 4 + 3] = 255;
  }
  return image;
}
