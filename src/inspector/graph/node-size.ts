import type { ShownNode } from './collapse-scopes.ts';

/** Characters of a label; longer ones are cut. */
const LONGEST_LABEL = 30;
const CHARACTER_WIDTH = 6.7;
const NOTE_CHARACTER_WIDTH = 5.6;
const PADDING = 24;
const NARROWEST = 56;

/** A text of at most so many characters. */
export function cut(text: string, length = LONGEST_LABEL): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** How wide a node is drawn, in CSS pixels at scale 1. */
export function nodeWidth({ label, note }: ShownNode): number {
  const text = Math.max(
    cut(label).length * CHARACTER_WIDTH,
    cut(note).length * NOTE_CHARACTER_WIDTH,
  );
  return Math.max(NARROWEST, Math.ceil(text + PADDING));
}

const NODE_HEIGHT = 38;

/** How high a node is drawn: as any other. */
export const nodeHeight = (): number => NODE_HEIGHT;
