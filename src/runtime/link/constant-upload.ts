import type { Constant, TensorConstant } from '../../bytecode/executable.ts';
import type { DataBlock } from '../../bytecode/file/executable-reader.ts';
import { concatenate } from '../../core/bytes/concatenate.ts';
import { storageByteLength } from '../../core/tensor/dtype.ts';
import { FormatError, OutOfMemoryError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import type { Device } from '../../device/device.ts';
import { type Allocator, beyondBufferLimit } from '../allocator/allocator.ts';
import { STORAGE_ALIGNMENT } from '../allocator/size-class.ts';
import { toStorageBytes, writeTensor } from '../values/tensor-transfer.ts';
import {
  DTypeValue,
  FloatValue,
  ShapeValue,
  type StorageOwner,
  StorageValue,
  TensorValue,
  type Value,
} from '../values/value.ts';

/** Few buffers, so that bind groups differ little; larger tensors get one of their own. */
const CHUNK_BYTE_LENGTH = 64 * 1024 * 1024;

/** A file of some bytes must not take all memory there is by way of splats. */
const MAX_SPLAT_BYTE_LENGTH = 2 ** 30;

/**
 * The values of a constant pool. Tensors share large read-only buffers, which are filled block by
 * block while the data section arrives; no block is kept.
 */
export class ConstantUpload implements StorageOwner {
  /** One for each constant. Tensors hold their elements only after {@link finish}. */
  readonly values: readonly Value[];
  readonly byteLength: number;
  /** One for each buffer, on all devices. */
  readonly storages: StorageValue[] = [];
  /** Writers of the tensors, in the order of the data section. */
  readonly #tensors: TensorWriter[] = [];
  /** Tensors before this one are complete. */
  #next = 0;

  /**
   * Creates the buffers, within the budgets of the allocators: that of the session's device, and of
   * the host. Throws OutOfMemoryError or DeviceLostError.
   */
  constructor(constants: readonly Constant[], session: Allocator, host: Allocator = session) {
    const tensors = new Map<TensorConstant, TensorValue>();
    const all = constants.filter((constant) => constant.kind === 'tensor');
    let total = 0;
    try {
      for (const allocator of new Set([session, host])) {
        const { device } = allocator;
        const placed = all.filter(
          (tensor) => (tensor.device === 'host' ? host : session) === allocator,
        );
        const chunks = layOut(placed, device);
        const byteLength = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
        allocator.reserve(byteLength);
        total += byteLength;
        for (const chunk of chunks) this.#createChunk(device, chunk, tensors);
      }
    } catch (error) {
      this.dispose();
      throw error;
    }
    this.byteLength = total;
    // Blocks of data arrive in this order, whatever device they are for.
    this.#tensors.sort((a, b) => a.constant.byteOffset - b.constant.byteOffset);
    this.values = constants.map((constant) => constantValue(constant, tensors));
  }

  /** Writes what a block holds. Blocks come in order. */
  write({ byteOffset, bytes }: DataBlock): void {
    for (; this.#next < this.#tensors.length; this.#next++) {
      const tensor = this.#tensors[this.#next];
      tensor?.accept(byteOffset, bytes);
      if (tensor?.isComplete === false) return;
    }
  }

  /** Makes ready for all blocks again, after buffers were replaced. */
  rewind(): void {
    this.#next = 0;
    for (const tensor of this.#tensors) tensor.rewind();
  }

  /** Throws FormatError when the blocks did not cover every constant. */
  finish(): void {
    const first = this.#tensors.find((tensor) => !tensor.isComplete);
    if (first === undefined) return;
    throw new FormatError({
      where: 'data section',
      got: `an end before the constant at byte ${first.constant.byteOffset} was complete`,
      expected: `${first.constant.byteLength} bytes for it`,
      remedy: 'Load the whole file again.',
    });
  }

  /** Constants live as long as the machine. */
  reclaim(): void {}

  dispose(): void {
    for (const { buffer } of this.storages) buffer.destroy();
    this.storages.length = 0;
    this.#tensors.length = 0;
  }

  #createChunk(device: Device, chunk: Chunk, tensors: Map<TensorConstant, TensorValue>): void {
    const buffer = device.createBuffer(chunk.byteLength);
    const place = { device, buffer, byteOffset: 0, isReadOnly: true };
    const storage = new StorageValue(this, place, chunk.byteLength);
    storage.references = 1;
    this.storages.push(storage);
    for (const { constant, byteOffset } of chunk.tensors) {
      const { dtype, shape } = constant;
      const tensor = new TensorValue(storage, { byteOffset, dtype, shape });
      tensors.set(constant, tensor);
      this.#tensors.push(new TensorWriter(constant, tensor));
    }
  }
}

interface Chunk {
  byteLength: number;
  readonly tensors: { readonly constant: TensorConstant; readonly byteOffset: number }[];
}

/** Places constants in buffers in the order of the data section, which is that of first use. */
export function layOut(constants: readonly TensorConstant[], device: Device): Chunk[] {
  const limit = device.info.maxBufferByteLength;
  const chunkLimit = Math.min(CHUNK_BYTE_LENGTH, limit);
  const tensors = constants.toSorted((a, b) => a.byteOffset - b.byteOffset);
  checkSplats(tensors, device);
  const chunks: Chunk[] = [];
  for (const constant of tensors) {
    const byteLength = wholeByteLength(constant);
    if (byteLength > limit) throw beyondBufferLimit(device, byteLength);
    const last = chunks.at(-1);
    const begin = Math.ceil((last?.byteLength ?? 0) / STORAGE_ALIGNMENT) * STORAGE_ALIGNMENT;
    if (last !== undefined && begin + byteLength <= chunkLimit) {
      last.tensors.push({ constant, byteOffset: begin });
      last.byteLength = begin + byteLength;
    } else {
      chunks.push({
        byteLength: Math.max(byteLength, STORAGE_ALIGNMENT),
        tensors: [{ constant, byteOffset: 0 }],
      });
    }
  }
  return chunks;
}

function wholeByteLength({ dtype, shape }: TensorConstant): number {
  return storageByteLength(dtype, elementCount(shape));
}

function checkSplats(tensors: readonly TensorConstant[], { info }: Device): void {
  const splats = tensors.filter(({ isSplat }) => isSplat);
  const requestedBytes = splats.reduce((sum, splat) => sum + wholeByteLength(splat), 0);
  if (requestedBytes <= MAX_SPLAT_BYTE_LENGTH) return;
  throw new OutOfMemoryError(
    {
      where: `constants on ${info.name}`,
      got: `${requestedBytes} bytes of constants that the file stores as one element each`,
      expected: `at most ${MAX_SPLAT_BYTE_LENGTH}`,
      remedy: 'Make them when the program runs, with the operator full.',
    },
    { details: { requestedBytes, limitBytes: MAX_SPLAT_BYTE_LENGTH } },
  );
}

function constantValue(
  constant: Constant,
  tensors: ReadonlyMap<TensorConstant, TensorValue>,
): Value {
  switch (constant.kind) {
    case 'tensor':
      return tensors.get(constant) ?? null;
    case 'shape':
      return new ShapeValue(constant.value);
    case 'float':
      return new FloatValue(constant.value);
    case 'dtype':
      return new DTypeValue(constant.value);
    default:
      return constant.value;
  }
}

/** Receives the bytes of one constant in order, in pieces that may end anywhere. */
class TensorWriter {
  readonly constant: TensorConstant;
  readonly #tensor: TensorValue;
  #received = 0;
  /** Received bytes that do not fill a word, or the element of a splat. */
  #carry = new Uint8Array(0);

  constructor(constant: TensorConstant, tensor: TensorValue) {
    this.constant = constant;
    this.#tensor = tensor;
  }

  get isComplete(): boolean {
    return this.#received === this.constant.byteLength;
  }

  rewind(): void {
    this.#received = 0;
    this.#carry = new Uint8Array(0);
  }

  accept(blockOffset: number, block: Uint8Array): void {
    const { byteOffset, byteLength, isSplat } = this.constant;
    const begin = byteOffset + this.#received - blockOffset;
    const end = Math.min(block.byteLength, byteOffset + byteLength - blockOffset);
    if (begin < 0 || begin >= end) return;
    const fresh = block.subarray(begin, end);
    const bytes = this.#carry.length === 0 ? fresh : concatenate([this.#carry, fresh]);
    const start = this.#received - this.#carry.byteLength;
    this.#received += end - begin;
    if (isSplat) this.#acceptSplat(bytes);
    else this.#acceptElements(start, bytes);
  }

  #acceptSplat(bytes: Uint8Array): void {
    this.#carry = bytes.slice();
    if (!this.isComplete) return;
    const { dtype, shape } = this.constant;
    const [element = 0] = HostTensor.fromBytes(dtype, [1], this.#carry).elements;
    writeTensor(this.#target(0), HostTensor.splat(dtype, shape, element));
  }

  /** `start` counts bytes of the constant and is a multiple of 4. */
  #acceptElements(start: number, bytes: Uint8Array): void {
    const { dtype } = this.constant;
    const isBool = dtype === 'bool';
    const rest = isBool || this.isComplete ? 0 : bytes.byteLength % 4;
    const whole = bytes.subarray(0, bytes.byteLength - rest);
    this.#carry = bytes.slice(whole.byteLength);
    if (whole.byteLength === 0) return;
    const { device, buffer, byteOffset } = this.#target(isBool ? start * 4 : start);
    device.write(buffer, byteOffset, toStorageBytes(dtype, whole));
  }

  #target(byteOffset: number) {
    const { storage, buffer } = this.#tensor;
    return { device: storage.device, buffer, byteOffset: this.#tensor.byteOffset + byteOffset };
  }
}
