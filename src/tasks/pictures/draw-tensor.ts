import {
  checkOptions,
  instanceOf,
  oneOf,
  type OptionKinds,
  requireKind,
} from '../../core/check-options.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import { Session } from '../../client/session.ts';
import type { DrawnElements } from '../../core/tensor/drawn-elements.ts';
import { internalError, ShapeError, UnsupportedError } from '../../core/errors.ts';
import type { CallOptions } from '../task-options.ts';
import { PICTURE_OPTIONS, type PictureOptions } from './picture-options.ts';

/** How the elements of a tensor are colours: what preparing a picture did, backwards. */
export interface DrawOptions
  extends CallOptions,
    Pick<PictureOptions, 'layout' | 'scale' | 'mean' | 'std'> {
  /**
   * Default `rgb`, and `grey` for one channel. `opacity` draws black that is as opaque as the one channel says: a mask, for
   * `globalCompositeOperation`.
   */
  readonly channels?: 'rgb' | 'bgr' | 'grey' | 'opacity' | undefined;
  /** `sigmoid`: elements are logits. Default `none`. */
  readonly activation?: 'sigmoid' | 'none' | undefined;
}

const { layout, scale, mean, std } = PICTURE_OPTIONS;
export const DRAW_OPTIONS: OptionKinds<DrawOptions> = {
  layout,
  scale,
  mean,
  std,
  channels: oneOf('rgb', 'bgr', 'grey', 'opacity'),
  activation: oneOf('sigmoid', 'none'),
  signal: 'signal',
};

const HANDLE = instanceOf('a DeviceTensor', DeviceTensor);

/**
 * A picture of a tensor on the device of a session, (1, C, H, W) or (1, H, W, C) in float32, float16 or uint8. On WebGPU it is drawn where it
 * lies, and nothing is read back; on the other devices, whose memory is the processor's, it is drawn there. Rejects with ShapeError
 * for a tensor of other dimensions, with UnsupportedError on remote devices and where there are no canvases.
 */
export async function tensorToBitmap(
  tensor: DeviceTensor,
  options: DrawOptions = {},
): Promise<ImageBitmap> {
  checkOptions('tensorToBitmap', options, DRAW_OPTIONS);
  requireKind('tensorToBitmap', HANDLE, ['what is', tensor]);
  const { dtype, shape, owner } = tensor;
  const elements = drawnElements(tensor, options);
  if (!(owner instanceof Session)) {
    throw new UnsupportedError({
      where: 'tensorToBitmap',
      got: 'a tensor of another library',
      expected: 'one of a session',
    });
  }
  const args = [{ kind: 'handle', handle: tensor.handle ?? -1, dtype, shape }] as const;
  const { bitmap } = await owner.control(
    { kind: 'draw', elements, args },
    { signal: options.signal, discard: (late) => late.bitmap?.close() },
  );
  if (bitmap === undefined) throw internalError('no bitmap');
  return bitmap;
}

/**
 * Draws a tensor onto a canvas, which gets its size. A canvas that was not drawn on before becomes one for bitmaps; others have to be of
 * two dimensions. Rejects as {@link tensorToBitmap} does, and with UnsupportedError for a canvas of another kind.
 */
export async function drawTensor(
  tensor: DeviceTensor,
  canvas: HTMLCanvasElement | OffscreenCanvas,
  options: DrawOptions = {},
): Promise<void> {
  showBitmap(await tensorToBitmap(tensor, options), canvas);
}

/** Puts a bitmap onto a canvas of its size, and closes it. */
export function showBitmap(bitmap: ImageBitmap, canvas: HTMLCanvasElement | OffscreenCanvas): void {
  const { width, height } = bitmap;
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const bitmaps = canvas.getContext('bitmaprenderer');
  if (bitmaps !== null) return bitmaps.transferFromImageBitmap(bitmap);
  contextOf(canvas).drawImage(bitmap, 0, 0);
  bitmap.close();
}

/** The context of a canvas in two dimensions. Throws UnsupportedError for a canvas with another one. */
export function contextOf(
  canvas: HTMLCanvasElement | OffscreenCanvas,
): CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D {
  const context = canvas.getContext('2d');
  if (context !== null && 'drawImage' in context) return context;
  throw new UnsupportedError({
    where: 'canvas',
    got: 'one with a context of another kind',
    expected: 'a new canvas, or one of two dimensions',
  });
}

const CHANNELS = { rgb: [0, 1, 2], bgr: [2, 1, 0], grey: [0, 0, 0], opacity: [0, 0, 0] } as const;
const DTYPES: readonly string[] = ['float32', 'float16', 'uint8'];

function drawnElements({ dtype, shape }: DeviceTensor, options: DrawOptions): DrawnElements {
  const { layout = 'nchw', activation, mean = 0, std = 1 } = options;
  const isLast = layout === 'nhwc';
  const [batch, ...dims] = shape;
  const [count = 0, height = 0, width = 0] = isLast ? [dims[2], dims[0], dims[1]] : dims;
  const { channels = count === 1 ? 'grey' : 'rgb' } = options;
  const wanted = channels === 'rgb' || channels === 'bgr' ? 3 : 1;
  const isPicture = shape.length === 4 && batch === 1 && count === wanted && width * height > 0;
  if (!isPicture || !DTYPES.includes(dtype)) {
    throw new ShapeError({
      where: 'the tensor that is drawn',
      got: `${dtype} [${shape.join(', ')}]`,
      expected: `float32, float16 or uint8 ${isLast ? `[1, rows, columns, ${wanted}]` : `[1, ${wanted}, rows, columns]`}`,
    });
  }
  const { scale = dtype === 'uint8' ? 1 : 1 / 255 } = options;
  const of = (value: number | readonly number[], colour: number): number =>
    typeof value === 'number' ? value : (value[colour] ?? 0);
  const each = <T>(make: (colour: number) => T) => [make(0), make(1), make(2)] as const;
  const begin = (channel: number): number => (isLast ? channel : channel * width * height);
  return {
    width,
    height,
    pixelStep: isLast ? count : 1,
    begins: each((colour) => begin(CHANNELS[channels][colour] ?? 0)),
    factors: each((colour) => of(std, colour) / (scale * 255)),
    shifts: each((colour) => of(mean, colour) / (scale * 255)),
    hasSigmoid: activation === 'sigmoid',
    isOpacity: channels === 'opacity',
  };
}
