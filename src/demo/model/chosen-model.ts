/** A model that somebody chose. */
export interface ChosenModel {
  readonly name: string;
  readonly source: string | File;
}
