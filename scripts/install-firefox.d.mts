export function installFirefox(root: string): string | undefined;
