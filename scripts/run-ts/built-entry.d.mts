export function builtEntry(
  entry: string,
  alias?: Readonly<Record<string, string>>,
): Promise<string>;
