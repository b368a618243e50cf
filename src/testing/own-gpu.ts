import { nodeGpu } from './node-gpu.ts';

/**
 * Dawn's `gpu` as an object of its own: sessions with it are at a place where no others are. What is configured there,
 * or asked for once, holds for all sessions that come.
 */
export async function ownGpu(): Promise<GPU> {
  const gpu = await nodeGpu();
  const requestAdapter: GPU['requestAdapter'] = (options) => gpu.requestAdapter(options);
  return { requestAdapter } as unknown as GPU;
}
