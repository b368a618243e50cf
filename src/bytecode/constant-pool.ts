import type { HostTensor } from '../core/host-tensor.ts';
import { sameShape } from '../core/shape.ts';
import type { DraftConstant } from './draft.ts';

type TensorDraft = Extract<DraftConstant, { readonly kind: 'tensor' }>;

/** Constants by content: adding an equal one gives the number of the first. */
export class ConstantPool {
  readonly constants: DraftConstant[] = [];
  readonly #scalars = new Map<string, number>();
  /** Numbers of the tensors with one hash; equality is decided by their bytes. */
  readonly #tensors = new Map<number, number[]>();
  /** Numbers of tensors that came before, by device. */
  readonly #known = new Map<HostTensor, Map<string | undefined, number>>();
  readonly #deduplicate: boolean;

  constructor(deduplicate: boolean) {
    this.#deduplicate = deduplicate;
  }

  add(constant: DraftConstant): number {
    if (!this.#deduplicate) return this.constants.push(constant) - 1;
    if (constant.kind === 'tensor') return this.#addTensor(constant);
    // String() would make -0 equal to 0.
    const value = Object.is(constant.value, -0) ? '-0' : JSON.stringify(String(constant.value));
    const key = `${constant.kind} ${value}`;
    const known = this.#scalars.get(key);
    if (known !== undefined) return known;
    const index = this.constants.push(constant) - 1;
    this.#scalars.set(key, index);
    return index;
  }

  #addTensor(constant: TensorDraft): number {
    const { tensor, device } = constant;
    const numbers = this.#known.get(tensor) ?? new Map<string | undefined, number>();
    this.#known.set(tensor, numbers);
    const known = numbers.get(device);
    if (known !== undefined) return known;
    // Of a tensor that is not in memory nothing is read: it is equal to itself only.
    const index = tensor.isLazy ? this.constants.push(constant) - 1 : this.#addContent(constant);
    numbers.set(device, index);
    return index;
  }

  #addContent(constant: TensorDraft): number {
    const { tensor, device } = constant;
    const hash = hashBytes(elementBytes(tensor));
    const candidates = this.#tensors.get(hash) ?? [];
    for (const index of candidates) {
      const candidate = this.constants[index];
      if (candidate?.kind !== 'tensor' || candidate.device !== device) continue;
      if (!candidate.tensor.isLazy && sameTensor(candidate.tensor, tensor)) return index;
    }
    const index = this.constants.push(constant) - 1;
    this.#tensors.set(hash, [...candidates, index]);
    return index;
  }
}

function elementBytes({ elements }: HostTensor): Uint8Array {
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}

function sameTensor(a: HostTensor, b: HostTensor): boolean {
  if (a.dtype !== b.dtype || a.isSplat !== b.isSplat || !sameShape(a.shape, b.shape)) return false;
  const x = elementBytes(a);
  const y = elementBytes(b);
  return x.length === y.length && x.every((byte, i) => byte === y[i]);
}

/** FNV-1a, 32 bits; over a sample of large tensors, since equality is checked anyway. */
function hashBytes(bytes: Uint8Array): number {
  const stride = Math.max(1, Math.floor(bytes.length / 65_536));
  let hash = 0x811c9dc5 ^ bytes.length;
  for (let i = 0; i < bytes.length; i += stride) {
    hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  }
  return hash;
}
