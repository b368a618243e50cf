/** The bytes of a source, from the begin, with their number where it is known. */
export interface OpenedSource {
  readonly stream: ReadableStream<Uint8Array>;
  readonly byteLength: number | undefined;
  /** Names the source in messages. */
  readonly where: string;
}
