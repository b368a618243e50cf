/**
 * WebGPU: `navigator.gpu`, or what the package `webgpu` makes in Node. Less than `GPU` says, so that
 * declarations read the same with and without the types of WebGPU.
 */
export interface GpuLike {
  /** Resolves to an adapter, or to null where there is none. */
  requestAdapter(options?: object): Promise<object | null>;
}

/** A GPUDevice of the page's own. */
export interface GpuDeviceLike {
  /** Its limits, for which kernels are planned. */
  readonly limits: object;
  /** Optional parts of WebGPU that it was requested with. */
  readonly features: object;
  /** Resolves when it is lost or destroyed. */
  readonly lost: Promise<object>;
  /** The queue that work is submitted to. */
  readonly queue: object;
  createBuffer(descriptor: { size: number; usage: number }): object;
}

/** A GPUTexture of the page. */
export interface GpuTextureLike {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** The format of the pixels, such as `rgba8unorm`. */
  readonly format: string;
  /** The bits of GPUTextureUsage. */
  readonly usage: number;
  createView(): object;
}

/** A GPUBuffer of the page. */
export interface GpuBufferLike {
  /** Its size in bytes. */
  readonly size: number;
  /** The bits of GPUBufferUsage. */
  readonly usage: number;
  /** `unmapped` while the GPU may use it. */
  readonly mapState: string;
}

/** `GPUBuffer` where there are types of WebGPU. */
export type PageGpuBuffer = typeof globalThis extends {
  GPUBuffer: { prototype: infer Buffer extends GpuBufferLike };
}
  ? Buffer
  : GpuBufferLike;

/** Tells a device from an object that devices are requested from. */
export function isGpuDevice(gpu: object | undefined): gpu is GpuDeviceLike {
  return gpu !== undefined && 'createBuffer' in gpu;
}

/**
 * Tells a texture from other pictures. These make no views, and in Node the class has no global
 * name.
 */
export function isGpuTexture(picture: unknown): picture is GpuTextureLike {
  return typeof picture === 'object' && picture !== null && 'createView' in picture;
}
