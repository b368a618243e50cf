/** The version of a file, by the headers of its server. */
export interface FileVersion {
  /** `ETag`, as it was sent. */
  readonly etag?: string | undefined;
  /** `Last-Modified`, as it was sent. */
  readonly lastModified?: string | undefined;
  /** The length of the whole file, in bytes. */
  readonly byteLength?: number | undefined;
}

/** Of an answer; `byteLength` is what the caller read from it. Headers that another origin hides are absent. */
export function versionOf({ headers }: Response, byteLength: number | undefined): FileVersion {
  return {
    etag: headers.get('etag') ?? undefined,
    lastModified: headers.get('last-modified') ?? undefined,
    byteLength,
  };
}

/** Returns true if the version tells a copy from later versions of the file. */
export function isTold({ etag, lastModified }: FileVersion): boolean {
  return (etag ?? lastModified) !== undefined;
}

/** Returns true if two answers may be parts of one file: no header that both have differs. */
export function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  const differs = (x: unknown, y: unknown): boolean =>
    x !== undefined && y !== undefined && x !== y;
  if (differs(a.byteLength, b.byteLength)) return false;
  // A weak tag still says that the content means the same, and a server compares them so too.
  if (a.etag !== undefined && b.etag !== undefined) return opaque(a.etag) === opaque(b.etag);
  return !differs(a.lastModified, b.lastModified);
}

/** The value for `If-Range`, which takes no weak tag. */
export function ifRangeOf({ etag, lastModified }: FileVersion): string | undefined {
  return etag === undefined || etag.startsWith('W/') ? lastModified : etag;
}

const opaque = (etag: string): string => etag.replace(/^W\//, '');
