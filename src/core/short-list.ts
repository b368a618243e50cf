const SHOWN_COUNT = 32;

/** Names for a message, which has no room for all of those that a file may have. */
export function shortList(names: readonly string[]): string {
  const more = names.length - SHOWN_COUNT;
  const shown = names.slice(0, SHOWN_COUNT).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
