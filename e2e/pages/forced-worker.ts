import type { GpuLike } from '../../src/core/contracts/gpu-like.ts';
import { serve } from '../../src/worker/index.ts';

/** The browser's adapter, which says that it is graphics hardware. */
const gpu: GpuLike = {
  async requestAdapter(options?: GPURequestAdapterOptions) {
    const adapter = await navigator.gpu.requestAdapter(options);
    if (adapter === null) return null;
    const { features, limits } = adapter;
    return {
      features,
      limits,
      info: { vendor: 'nvidia', architecture: 'forced', device: '', description: '' },
      requestDevice: (descriptor?: GPUDeviceDescriptor) => adapter.requestDevice(descriptor),
    };
  },
};

serve({ gpu });
