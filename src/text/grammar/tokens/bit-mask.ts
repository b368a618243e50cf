/** Sets the bits of a mask that are set in another one. An empty mask is overwritten, which is faster. */
export function orInto(mask: Uint32Array, bits: Uint32Array, isEmpty: boolean): void {
  if (isEmpty) {
    mask.set(bits);
    return;
  }
  for (let i = 0; i < bits.length; i++) mask[i] = (mask[i] ?? 0) | (bits[i] ?? 0);
}

export function setBit(mask: Uint32Array, id: number): void {
  mask[id >> 5] = (mask[id >> 5] ?? 0) | (1 << (id & 31));
}

export function clearBit(mask: Uint32Array, id: number): void {
  mask[id >> 5] = (mask[id >> 5] ?? 0) & ~(1 << (id & 31));
}

/** The numbers of the bits that are set, in order. */
export function setBits(mask: Uint32Array): number[] {
  const ids: number[] = [];
  for (let i = 0; i < mask.length; i++) {
    for (let rest = mask[i] ?? 0; rest !== 0; rest &= rest - 1) {
      ids.push(i * 32 + 31 - Math.clz32(rest & -rest));
    }
  }
  return ids;
}
