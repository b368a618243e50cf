import { formatPlace, type SourcePlace } from '../../core/source-place.ts';

/**
 * The scopes that the name of a node lies in, the outermost first: `/encoder/layer.0/Add` lies in `encoder` and
 * `layer.0`, `encoder.layer.0.add` in `encoder` and `layer.0`. None for a place in a text.
 */
export function scopeOf({ source, line }: SourcePlace): readonly string[] {
  if (line !== undefined) return [];
  const bySlash = source.split('/').filter((part) => part !== '');
  return (bySlash.length > 1 ? bySlash : byDot(source)).slice(0, -1);
}

/** Numbers belong to the part before them. */
function byDot(name: string): string[] {
  const parts: string[] = [];
  for (const part of name.split('.')) {
    const last = parts.length - 1;
    if (last >= 0 && /^\d+$/.test(part)) parts[last] += `.${part}`;
    else if (part !== '') parts.push(part);
  }
  return parts;
}

/** The scopes that all places lie in. */
export function commonScope(places: readonly SourcePlace[]): readonly string[] {
  const [first = [], ...others] = places.map(scopeOf);
  const end = first.findIndex((part, i) => others.some((other) => other[i] !== part));
  return end < 0 ? first : first.slice(0, end);
}

/** A place as a label: the last part of a node's name, or the line. */
export function shortPlace(place: SourcePlace): string {
  if (place.line !== undefined) return formatPlace(place);
  const depth = scopeOf(place).length;
  if (depth === 0) return place.source;
  const bySlash = place.source.split('/').filter((part) => part !== '');
  return (bySlash.length > 1 ? bySlash.at(-1) : byDot(place.source).at(-1)) ?? place.source;
}
