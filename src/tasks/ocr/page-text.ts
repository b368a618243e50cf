import type { Point } from '../../core/pictures/rectangle.ts';
import type { Box } from '../results/boxes.ts';
import type { CallOptions } from '../task-options.ts';

export interface ReadOptions extends CallOptions {
  /** Pixels from this likelihood on are text. Default 0.3. */
  readonly threshold?: number | undefined;
  /** Lines that are less likely are left out. Default 0.6. */
  readonly boxThreshold?: number | undefined;
  /** How far a line reaches beyond what the model marks of it. Default 1.6. */
  readonly unclip?: number | undefined;
  /** Lines whose characters are less sure on average are left out. Default 0.5. */
  readonly leastScore?: number | undefined;
}

/** A line of text, or the part of one that is well apart from the others, such as a price. */
export interface TextLine {
  /** Its characters. */
  readonly text: string;
  /** How sure the model is of its characters on average, from 0 to 1. */
  readonly score: number;
  /** The upright rectangle around it, in pixels of the picture. */
  readonly box: Box;
  /** Its own corners, clockwise from where its text begins at the top: a line may be at an angle, or upside down. */
  readonly corners: readonly Point[];
  /** The row that it is in, from 0; further lines in the same row have the same number. */
  readonly row: number;
}

/** The text of a picture. */
export interface PageText {
  /** All of it: rows in lines, and what is in a row with a blank between. */
  readonly text: string;
  /** Its lines as they are read: from the top to the bottom of the page, which may be turned, and from the left in a row. */
  readonly lines: readonly TextLine[];
}
