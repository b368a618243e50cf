import type { Device } from '../../../../src/device/device.ts';

/** Counts until it is stopped. */
export interface ByteCounter {
  readonly count: number;
  stop(): void;
}

/** Counts bytes that are written to a device, read from it and copied on it, beside those that kernels read and write. */
export function countBytes(device: Device): ByteCounter {
  const counter = { count: 0 };
  const add = (bytes: number): void => void (counter.count += bytes);
  const isWebGpu = !['host', 'wasm'].includes(device.info.adapterClass);
  const stop = isWebGpu ? watchWebGpu(add) : watchDevice(device, add);
  return {
    get count() {
      return counter.count;
    },
    stop,
  };
}

/** All that WebGPU in this process is asked to write and to copy: repeated launches go past the device's own functions. */
function watchWebGpu(add: (bytes: number) => void): () => void {
  const undo = [
    watch(GPUQueue.prototype, 'writeBuffer', (_buffer, _at, data, from = 0, size) => {
      const width = ArrayBuffer.isView(data)
        ? Number(Reflect.get(data, 'BYTES_PER_ELEMENT') ?? 1)
        : 1;
      add(size === undefined ? data.byteLength - from * width : size * width);
    }),
    watch(GPUCommandEncoder.prototype, 'copyBufferToBuffer', (...given: readonly unknown[]) =>
      add(Number(given.at(-1))),
    ),
  ];
  return () => undo.forEach((restore) => restore());
}

function watchDevice(device: Device, add: (bytes: number) => void): () => void {
  const undo = [
    watch(device, 'write', (_buffer, _at, bytes) => add(bytes.byteLength)),
    watch(device, 'copy', ({ byteLength }) => add(byteLength)),
    watch(device, 'read', (ranges) => ranges.forEach(({ byteLength }) => add(byteLength))),
  ];
  return () => undo.forEach((restore) => restore());
}

/** Tells what a method is called with; gives what ends that. */
function watch<Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
  hear: Target[Name] extends (...given: infer Given) => unknown ? (...given: Given) => void : never,
): () => void {
  const own: unknown = Reflect.get(target, name);
  if (typeof own !== 'function') throw new Error(`no method ${String(name)}`);
  const watched = function (this: unknown, ...given: unknown[]): unknown {
    Reflect.apply(hear, undefined, given);
    return Reflect.apply(own, this, given);
  };
  Reflect.set(target, name, watched);
  return () => void Reflect.set(target, name, own);
}
