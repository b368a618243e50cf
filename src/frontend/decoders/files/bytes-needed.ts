/** The head of a file cannot be read yet: the first bytes that are there end within it. */
export interface BytesNeeded {
  /** Tells this answer from a head. */
  readonly kind: 'bytes-needed';
  /**
   * How many bytes from the start of the file reading needs at least to go further. The head may turn out
   * to be longer still, so that a page asks for a good deal more.
   */
  readonly byteLength: number;
}

/** How the head of a model file is read. */
export interface HeadOptions {
  /** Bytes of the whole file, where known: nothing in the head may then lie beyond. */
  readonly fileByteLength?: number | undefined;
  /** The file, for messages. Default: its format. */
  readonly name?: string | undefined;
}
