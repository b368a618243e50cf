import type { DeviceBuffer } from '../../device/device.ts';
import type { Allocator } from '../allocator/allocator.ts';
import {
  AdtValue,
  type FieldCount,
  type StorageValue,
  type TensorValue,
  type Value,
} from '../values/value.ts';

/** Results of more values are not rebuilt. */
const MAX_VALUES = 256;

/** A part of a result, and where its tensors lie. */
type Part =
  | { readonly kind: 'plain'; readonly value: Value }
  | { readonly kind: 'argument'; readonly index: number; readonly view: TensorValue }
  | { readonly kind: 'fresh'; readonly buffer: DeviceBuffer; readonly view: TensorValue }
  | { readonly kind: 'adt'; readonly tag: number; readonly fields: readonly Part[] };

export interface TemplateContext {
  readonly argumentTensors: readonly TensorValue[];
  /** The allocator of the session's device. */
  readonly allocator: Allocator;
  readonly count: FieldCount;
}

/** The result of a recorded call, to be made again over the same buffers. */
export class ResultTemplate {
  /** The storages that a result takes from the allocator, as they were, by their buffers. */
  readonly storages = new Map<DeviceBuffer, StorageValue>();
  readonly #part: Part;
  #valueCount = 0;

  private constructor(value: Value, context: TemplateContext) {
    this.#part = this.#describe(value, context);
  }

  /** Undefined when there is anything in the result that belongs to one call alone. */
  static of(value: Value, context: TemplateContext): ResultTemplate | undefined {
    try {
      return new ResultTemplate(value, context);
    } catch (error) {
      if (error instanceof NotRepeatable) return undefined;
      throw error;
    }
  }

  /** A result without references; `take` gives the storages of {@link storages}. */
  make({ argumentTensors, allocator, count }: TemplateContext): Value {
    const storages = new Map<DeviceBuffer, StorageValue>();
    for (const [buffer, { byteLength, isGrowing }] of this.storages) {
      const storage = allocator.take(buffer, byteLength);
      storage.isGrowing = isGrowing;
      storages.set(buffer, storage);
    }
    const build = (part: Part): Value => {
      switch (part.kind) {
        case 'plain':
          return part.value;
        case 'argument':
          return viewOf(argumentTensors[part.index]?.storage, part.view);
        case 'fresh':
          return viewOf(storages.get(part.buffer), part.view);
        default:
          return new AdtValue(part.tag, part.fields.map(build), count);
      }
    };
    return build(this.#part);
  }

  #describe(value: Value, context: TemplateContext): Part {
    if (++this.#valueCount > MAX_VALUES) throw new NotRepeatable();
    if (typeof value !== 'object' || value === null) return { kind: 'plain', value };
    switch (value.kind) {
      case 'float':
      case 'shape':
      case 'dtype':
        return { kind: 'plain', value };
      case 'adt': {
        const fields = value.fields.map((field) => this.#describe(field, context));
        return { kind: 'adt', tag: value.tag, fields };
      }
      case 'tensor':
        return this.#describeTensor(value, context);
      default:
        throw new NotRepeatable();
    }
  }

  #describeTensor(view: TensorValue, { argumentTensors, allocator }: TemplateContext): Part {
    const { storage, buffer } = view;
    const index = argumentTensors.findIndex((tensor) => tensor.storage === storage);
    if (index >= 0) return { kind: 'argument', index, view };
    if (storage.isReadOnly) return { kind: 'plain', value: view };
    if (!allocator.owns(buffer)) throw new NotRepeatable();
    this.storages.set(buffer, storage);
    return { kind: 'fresh', buffer, view };
  }
}

class NotRepeatable extends Error {}

function viewOf(storage: StorageValue | undefined, view: TensorValue): TensorValue {
  return storage === undefined ? view : view.over(storage);
}
