import type { TimelineEvent, TimelineKind } from '../../core/run-timeline.ts';
import { shadowMethod } from '../../core/shadow-method.ts';
import type { Device, DeviceRange } from '../../device/device.ts';

/** Hears of an event; times are those of `performance.now()`. */
export type HearEvent = (event: TimelineEvent) => void;

/**
 * Tells of what a device is asked for beside launches, until the function that it returns is called: uploads, copies and reads.
 * Uploads and copies of WebGPU take the time of handing them over, since its queue tells nothing of them.
 */
export function recordDevice(device: Device, hear: HearEvent): () => void {
  const { name } = device.info;
  const note = (kind: TimelineKind, bytes: number, beginMs: number): void =>
    hear({ kind, name, bytes, beginMs, endMs: performance.now() });
  const stops = [
    shadowMethod(device, 'write', (write) => (buffer, byteOffset, bytes) => {
      const begin = performance.now();
      write(buffer, byteOffset, bytes);
      note('upload', bytes.byteLength, begin);
    }),
    shadowMethod(device, 'copy', (copy) => (from, to) => {
      const begin = performance.now();
      copy(from, to);
      note('copy', from.byteLength, begin);
    }),
    shadowMethod(device, 'read', (read) => async (ranges, room) => {
      const begin = performance.now();
      try {
        return await read(ranges, room);
      } finally {
        note('readback', totalLength(ranges), begin);
      }
    }),
    shadowMethod(device, 'readSync', (readSync) => (range) => {
      const begin = performance.now();
      const bytes = readSync(range);
      if (bytes !== undefined) note('readback', bytes.byteLength, begin);
      return bytes;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const totalLength = (ranges: readonly DeviceRange[]): number =>
  ranges.reduce((sum, { byteLength }) => sum + byteLength, 0);
