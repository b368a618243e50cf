/**
 * WebGPU: `navigator.gpu`, or what the package `webgpu` makes in Node. Less than `GPU` says, so that
 * declarations read the same with and without the types of WebGPU.
 */
export interface GpuLike {
  /** Resolves to an adapter, or to null where there is none. */
  requestAdapter(options?: object): Promise<object | null>;
}
