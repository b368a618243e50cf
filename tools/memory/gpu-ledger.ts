/** WebGPU whose buffers are counted. */
export interface GpuLedger {
  readonly gpu: GPU;
  /** Of buffers that neither they nor their device were destroyed. */
  liveBytes(): number;
}

export function ledgerOf(gpu: GPU): GpuLedger {
  const devices = new Map<GPUDevice, Map<GPUBuffer, number>>();
  const requestAdapter: GPU['requestAdapter'] = async (options) => {
    const adapter = await gpu.requestAdapter(options);
    if (adapter === null) return null;
    const requestDevice = adapter.requestDevice.bind(adapter);
    adapter.requestDevice = async (descriptor) => {
      const device = await requestDevice(descriptor);
      devices.set(
        device,
        countBuffers(device, () => devices.delete(device)),
      );
      return device;
    };
    return adapter;
  };
  const counted: Pick<GPU, 'requestAdapter'> = { requestAdapter };
  const liveBytes = (): number =>
    [...devices.values()]
      .flatMap((buffers) => [...buffers.values()])
      .reduce((sum, byteLength) => sum + byteLength, 0);
  return { gpu: counted as GPU, liveBytes };
}

/** The live buffers of a device with their bytes. */
function countBuffers(device: GPUDevice, onDestroy: () => void): Map<GPUBuffer, number> {
  const live = new Map<GPUBuffer, number>();
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor);
    live.set(buffer, descriptor.size);
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      live.delete(buffer);
      destroy();
    };
    return buffer;
  };
  const destroy = device.destroy.bind(device);
  device.destroy = () => {
    onDestroy();
    destroy();
  };
  return live;
}
