type Method = (...args: never[]) => unknown;
/** Makes what runs in place of a method of the method itself, which is passed bound. */
type Around = (own: Method) => Method;

const shadows = new WeakMap<object, Map<PropertyKey, readonly Around[]>>();

/**
 * Has a function run in place of a method of this one object, until the function that is returned is called. Several may do so, and
 * end in any order. Whoever does not ask for it pays nothing.
 */
export function shadowMethod<T extends object, K extends keyof T>(
  target: T,
  name: K,
  around: (own: T[K]) => T[K],
): () => void {
  const layer = around as unknown as Around;
  const change = (by: (layers: readonly Around[]) => readonly Around[]): void => {
    const all = shadows.get(target) ?? new Map<PropertyKey, readonly Around[]>();
    shadows.set(target, all);
    const layers = by(all.get(name) ?? []);
    all.set(name, layers);
    // The method itself stands in the prototype.
    Reflect.deleteProperty(target, name);
    if (layers.length === 0) return;
    const own: Method = (target[name] as Method).bind(target);
    const value = layers.reduce((inner, each) => each(inner), own);
    Object.defineProperty(target, name, { value, configurable: true });
  };
  change((layers) => [...layers, layer]);
  return () => change((layers) => layers.filter((each) => each !== layer));
}
