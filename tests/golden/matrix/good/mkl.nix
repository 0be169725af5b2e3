final: prev: { }
