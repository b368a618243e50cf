import { isGpuTexture } from '../../../core/contracts/gpu-like.ts';
import { UnsupportedError, UsageError } from '../../../core/errors.ts';
import type { PictureSource } from '../../../core/pictures/picture-source.ts';
import { type Pixels, toRgb } from '../../../core/pictures/pixels.ts';
import { probeBinding } from '../page/probe-binding.ts';
import type { DrawContext } from './draw-tensor.ts';

/** Bytes copied from, sampled, drawn to: what `copyExternalImageToTexture` and the shaders need. */
const TEXTURE_USAGE = 0x02 | 0x04 | 0x10;

/**
 * Gives a picture to what records its reading as a texture; one that was made for that is freed afterwards. Rejects as
 * `Device.pictures.prepare` does.
 */
export async function readPicture(
  picture: PictureSource,
  [width, height]: readonly [width: number, height: number],
  { device, faults }: DrawContext,
  record: (read: ReadTexture) => void,
): Promise<void> {
  if (isGpuTexture(picture)) {
    const read = await pageTexture(picture as GPUTexture, device);
    faults.throwIfEnded();
    return record(read);
  }
  faults.throwIfEnded();
  const texture = faults.scoped('picture', () => {
    const size = [width, height] as const;
    const made = device.createTexture({
      label: 'picture',
      size: [width, height],
      format: 'rgba8unorm',
      usage: TEXTURE_USAGE,
    });
    if ('data' in picture) {
      const bytesPerRow = width * 4;
      device.queue.writeTexture({ texture: made }, rgbaOf(picture), { bytesPerRow }, size);
    } else {
      device.queue.copyExternalImageToTexture({ source: picture }, { texture: made }, size);
    }
    return made;
  });
  record({ view: texture.createView(), isLinear: false });
  texture.destroy();
}

/** Pixels as textures have them. */
function rgbaOf(pixels: Pixels): Uint8Array<ArrayBuffer> {
  const { width, height, data } = pixels;
  const count = width * height;
  if (data.length === count * 4 && data.buffer instanceof ArrayBuffer) {
    return new Uint8Array(data.buffer, data.byteOffset, data.length);
  }
  const rgb = toRgb(pixels, 'picture').data;
  const out = new Uint8Array(count * 4).fill(255);
  for (let i = 0; i < count; i++) {
    for (let c = 0; c < 3; c++) out[i * 4 + c] = rgb[i * 3 + c] ?? 0;
  }
  return out;
}

const WHERE = 'GPUTexture';
const TEXTURE_BINDING = 0x04;

/** The formats that are read as pictures, and whether sampling them gives linear light. */
const FORMATS: Readonly<Partial<Record<GPUTextureFormat, boolean>>> = {
  rgba8unorm: false,
  'rgba8unorm-srgb': true,
  bgra8unorm: false,
  'bgra8unorm-srgb': true,
  rgba16float: false,
};

/** A texture as the shader for pictures reads it. */
export interface ReadTexture {
  readonly view: GPUTextureView;
  /** True if samples are linear light, which is encoded as in other pictures. */
  readonly isLinear: boolean;
}

/**
 * The first level of a texture of the page's. Rejects with UnsupportedError for other formats than those above and other kinds of
 * textures, with UsageError for one that shaders cannot read, or that is of another device.
 */
async function pageTexture(texture: GPUTexture, device: GPUDevice): Promise<ReadTexture> {
  const isLinear = FORMATS[texture.format];
  const { dimension, sampleCount, depthOrArrayLayers, usage } = texture;
  if (isLinear === undefined || dimension !== '2d' || sampleCount * depthOrArrayLayers !== 1) {
    throw new UnsupportedError({
      where: WHERE,
      got: `${texture.format}, ${dimension}, ${depthOrArrayLayers} layers, ${sampleCount} samples`,
      expected: `one layer and one sample of ${Object.keys(FORMATS).join(', ')}`,
      remedy: 'Draw it into such a texture.',
    });
  }
  if ((usage & TEXTURE_BINDING) === 0) {
    throw new UsageError({
      where: WHERE,
      got: `a texture with the usage ${usage}`,
      expected: 'GPUTextureUsage.TEXTURE_BINDING',
      remedy: 'Make it with that usage; for the texture of a canvas configure() takes it.',
    });
  }
  let view: GPUTextureView | undefined;
  const resource = (): GPUTextureView =>
    (view = texture.createView({ dimension: '2d', mipLevelCount: 1 }));
  await probeBinding(device, {
    where: WHERE,
    kind: 'a texture',
    layout: { texture: { sampleType: 'unfilterable-float' } },
    resource,
  });
  return { view: view ?? resource(), isLinear };
}
