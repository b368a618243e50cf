import { UnsupportedError, UsageError } from '../../../core/errors.ts';
import { probeBinding } from './probe-binding.ts';

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
export async function pageTexture(texture: GPUTexture, device: GPUDevice): Promise<ReadTexture> {
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
