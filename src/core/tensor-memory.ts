type Reserve = (byteLength: number) => void;

let reserve: Reserve | undefined;

/** Told before memory for the elements of a host tensor is taken; it may throw. */
export function reserveTensorMemory(byteLength: number): void {
  reserve?.(byteLength);
}

/** Runs `work`, which does not wait, with `next` told of all tensor memory that it takes. */
export function withTensorMemory<T>(next: Reserve, work: () => T): T {
  const former = reserve;
  reserve = next;
  try {
    return work();
  } finally {
    reserve = former;
  }
}
