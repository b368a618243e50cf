import { elementByteLength } from '../../core/tensor/dtype.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import type { DeviceRange } from '../../device/device.ts';
import { type StorageSource, type StorageValue, TensorValue, type TensorView } from './value.ts';

/** Room for more along one axis: so many steps along it are from a slice of the axes before it to the next one. */
interface Pitch {
  readonly axis: number;
  readonly capacity: number;
  /** Gives storages for copies without the room. */
  readonly memory: StorageSource;
}

/**
 * A tensor that may grow along an inner axis: each slice of the axes before that has room behind it. Readers that do
 * not know of it get a copy without (`dense`). Loaded with `append`, which makes them.
 */
export class PitchedTensor extends TensorValue {
  readonly pitch: Pitch;

  constructor(storage: StorageValue, view: TensorView, pitch: Pitch) {
    super(storage, view);
    this.pitch = pitch;
  }

  override get layout(): string {
    return `|${this.pitch.axis},${this.pitch.capacity}`;
  }

  override over(storage: StorageValue): PitchedTensor {
    return new PitchedTensor(storage, this, this.pitch);
  }

  override dense(memory: StorageSource = this.pitch.memory): TensorValue {
    const { dtype, shape, byteLength } = this;
    const storage = memory.allocate(byteLength);
    const { byteOffset } = storage;
    const copy = new TensorValue(storage, { byteOffset, dtype, shape });
    copySlices(this, copy, this.pitch.axis);
    return copy;
  }

  /** The tensor with its room: along the axis it has the capacity in place of the size. */
  override whole(): TensorValue {
    const { storage, byteOffset, dtype, shape, pitch } = this;
    return new TensorValue(storage, {
      byteOffset,
      dtype,
      shape: shape.with(pitch.axis, pitch.capacity),
    });
  }
}

export function isPitched(tensor: TensorValue, axis: number): tensor is PitchedTensor {
  return tensor instanceof PitchedTensor && tensor.pitch.axis === axis;
}

/** How much there is along an axis, or could be: each slice of the axes before it begins so far behind the last. */
export function capacityOf(tensor: TensorValue, axis: number): number {
  return isPitched(tensor, axis) ? tensor.pitch.capacity : (tensor.shape[axis] ?? 0);
}

/** Bytes of a slice that is so long along an axis. */
export function sliceBytes({ dtype, shape }: TensorView, axis: number, size = 0): number {
  return elementCount(shape.slice(axis + 1)) * size * elementByteLength(dtype);
}

/** How many slices there are of the axes before an axis. */
export function sliceCount(shape: Shape, axis: number): number {
  return elementCount(shape.slice(0, axis));
}

/** Copies each slice of the axes before one, which is whole words or the only one, behind `at` of them in `to`. */
export function copySlices(from: TensorValue, to: TensorValue, axis: number, at = 0): void {
  const { device } = from.storage;
  const byteLength = Math.ceil(sliceBytes(from, axis, from.shape[axis]) / 4) * 4;
  if (byteLength === 0) return;
  const pitchOf = (one: TensorValue): number => sliceBytes(one, axis, capacityOf(one, axis));
  const [pitch, step] = [pitchOf(from), pitchOf(to)];
  const rangeIn = ({ buffer, byteOffset }: TensorValue, begin: number): DeviceRange => ({
    buffer,
    byteOffset: byteOffset + begin,
    byteLength,
  });
  const first = sliceBytes(to, axis, at);
  for (let i = 0; i < sliceCount(from.shape, axis); i++) {
    device.copy(rangeIn(from, i * pitch), rangeIn(to, first + i * step));
  }
}
