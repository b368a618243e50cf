/** A program on its way to another page, where it goes on. */
export interface Parcel {
  /** The state of the section beside its machine. */
  readonly note: string;
  /** Bytes of a snapshot; none where nothing runs. */
  readonly snapshot: Uint8Array;
}

/** Where a page goes on. Tabs of one browser share what is stored there. */
export type Destination = 'another tab' | 'another device';

/** A section whose program can go on in another page. */
export interface Movable {
  /** The id of its panel. */
  readonly section: string;
  /** Holds the program at once, and stores it. */
  pack(): Promise<Parcel>;
  /** Goes on here, because nobody took it. */
  goOn(): void;
  /** Ends here, because it goes on there. */
  leave(to: Destination): Promise<void>;
  /** Loads the program again, after it has left, with what the address names. */
  comeBack(): Promise<void>;
}

/** The fragment of an address that takes a program back. The page that took it has made it, and tells it to nobody else. */
export type WayBack = string | undefined;

/** How a parcel is given. */
export interface GiveOptions {
  /** Ends the offer. */
  readonly signal: AbortSignal;
  /** Called when a page took it and did not go on. */
  readonly onLost: () => void;
}

/** A program that another page hands over. */
export interface Arrival extends Parcel {
  readonly from: Destination;
  /** Tells the other page that it goes on here. */
  readonly confirm: () => Promise<void>;
  /** Tells the other page that it cannot, so it goes on there. */
  readonly refuse: () => void;
  /** Gives it back when the other page asks for it. Resolves to the way back from there, to undefined where it does not go on there. */
  readonly giveBack: (pack: () => Promise<Parcel>, options: GiveOptions) => Promise<WayBack>;
}
