import type { DrawnElements } from '../../core/tensor/drawn-elements.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import { float16ToNumber } from '../../core/tensor/float16.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { TensorValue, type Value } from '../../runtime/values/value.ts';
import type { HostedSession } from '../host/hosted-session.ts';

/**
 * A tensor of a session as a picture. WebGPU draws it where it lies; on the other devices its elements are the processor's anyway.
 * Rejects with UsageError for what is no tensor, with UnsupportedError where there are no canvases.
 */
export async function drawTensor(
  { machine, device }: HostedSession,
  elements: DrawnElements,
  [tensor]: readonly Value[],
): Promise<ImageBitmap> {
  if (!(tensor instanceof TensorValue) || tensor.layout !== '') {
    throw new UsageError({ where: 'draw', got: 'no tensor', expected: 'one without gaps' });
  }
  const { device: own } = tensor.storage;
  const { pictures } = own;
  if (pictures !== undefined) return device.share(() => pictures.draw(tensor, elements));
  const [host] = await machine.read([tensor]);
  if (host === undefined) throw new Error('internal: nothing was read');
  return drawn(host, elements);
}

async function drawn(tensor: HostTensor, elements: DrawnElements): Promise<ImageBitmap> {
  if (typeof createImageBitmap !== 'function') {
    throw new UnsupportedError({
      where: 'drawing a tensor',
      got: 'no createImageBitmap',
      expected: 'a browser',
      remedy: 'Read the tensor, and draw its elements.',
    });
  }
  const { width, height } = elements;
  return createImageBitmap(new ImageData(pixelsOf(tensor, elements), width, height));
}

/** Red, green, blue and alpha of each pixel, as the shader `draw-tensor` has them. */
export function pixelsOf(
  { dtype, data }: HostTensor,
  { width, height, pixelStep, begins, factors, shifts, hasSigmoid, isOpacity }: DrawnElements,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(width * height * 4);
  const elementAt = (i: number): number => {
    const element = Number(data[i] ?? 0);
    const number = dtype === 'float16' ? float16ToNumber(element) : element;
    return hasSigmoid ? 1 / (1 + Math.exp(-number)) : number;
  };
  for (let pixel = 0; pixel < width * height; pixel++) {
    const to = pixel * 4;
    const level = (colour: 0 | 1 | 2): number =>
      255 * (elementAt(pixel * pixelStep + begins[colour]) * factors[colour] + shifts[colour]);
    if (isOpacity) {
      pixels[to + 3] = level(0);
      continue;
    }
    for (const colour of [0, 1, 2] as const) pixels[to + colour] = level(colour);
    pixels[to + 3] = 255;
  }
  return pixels;
}
