// A stylesheet is imported for its side effect; the build bundles all of them.
declare module '*.css';
