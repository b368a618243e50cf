export function installNatsServer(root: string): string | undefined;
