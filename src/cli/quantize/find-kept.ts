/** Finds which layers have to stay float for outputs to be near enough. */
export interface KeptSearch {
  /** The layers that may be rounded, by their names. */
  readonly layers: readonly string[];
  /** The least cosine of an output where these layers stay float. */
  readonly cosineWithout: (kept: readonly string[]) => Promise<number>;
  /** The least cosine that is near enough. */
  readonly wanted: number;
}

/**
 * The layers that harm most by themselves, as few of them as there have to be: first each is rounded alone, then the
 * number of the worst that stay is doubled and halved. With all of them nothing is rounded, so there is an answer always.
 */
export async function findKept({ layers, cosineWithout, wanted }: KeptSearch): Promise<string[]> {
  const alone: { readonly name: string; readonly cosine: number }[] = [];
  for (const name of layers) {
    const cosine = await cosineWithout(layers.filter((other) => other !== name));
    // One that is no number is worse than all others.
    alone.push({ name, cosine: Number.isNaN(cosine) ? -Infinity : cosine });
  }
  const names = alone.toSorted((a, b) => a.cosine - b.cosine).map(({ name }) => name);
  const holds = async (count: number): Promise<boolean> =>
    (await cosineWithout(names.slice(0, count))) >= wanted;
  let [least, most] = [0, 1];
  while (most < names.length && !(await holds(most))) [least, most] = [most, most * 2];
  most = Math.min(most, names.length);
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    if (await holds(middle)) most = middle;
    else least = middle;
  }
  return names.slice(0, most);
}
